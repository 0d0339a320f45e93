/** The cluster's DNS: a server of the Kubernetes DNS specification 1.1.0 that forwards all other names. */
export { createDns } from "./dns.ts";
export type { Dns, DnsOptions } from "./dns.ts";
export { readResolvConf } from "./upstream.ts";
export type { UpstreamServer } from "./upstream.ts";
