/** The flags `--requestheader-…`: front proxies that name the user in headers. */
import { certificatesOf } from "../../apiserver/authn/certificate-trust.ts";
import type { ApiServerOptions } from "../../apiserver/server.ts";
import { UsageError } from "../arguments.ts";
import { readText } from "../read-text.ts";
import { last, lists } from "./apiserver-flags/flag-values.ts";
import type { Flags } from "./apiserver-flags/flag-values.ts";

export interface FrontProxies {
  readonly proxies: NonNullable<ApiServerOptions["proxies"]>;
  /** What aggregated servers are told, by key of the ConfigMap. */
  readonly proxyConfiguration: Readonly<Record<string, string>>;
}

/** Undefined when there is no authority of proxies: then nobody's headers count. Throws UsageError. */
export async function frontProxies(flags: Flags): Promise<FrontProxies | undefined> {
  const path = last(flags, "requestheader-client-ca-file") ?? "";
  if (path === "") return undefined;
  const bundle = await readText(path).catch((error: unknown) => Promise.reject(new UsageError(error instanceof Error ? error.message : String(error))));
  const authorities = certificatesOf(bundle);
  if (authorities.length === 0) throw new UsageError(`error loading CA bundle: data does not contain any valid RSA or ECDSA certificates: ${path}`);
  const names = (flag: string) => lists(flags, `requestheader-${flag}`) ?? [];
  const headers = (flag: string) => names(flag).map((name) => name.toLowerCase());
  return {
    proxies: {
      authorities,
      names: { allowedNames: names("allowed-names"), username: headers("username-headers"), uid: headers("uid-headers"), group: headers("group-headers"), extraPrefixes: headers("extra-headers-prefix") },
    },
    proxyConfiguration: {
      "requestheader-allowed-names": JSON.stringify(names("allowed-names")),
      "requestheader-client-ca-file": bundle,
      "requestheader-extra-headers-prefix": JSON.stringify(names("extra-headers-prefix")),
      "requestheader-group-headers": JSON.stringify(names("group-headers")),
      "requestheader-uid-headers": JSON.stringify(names("uid-headers")),
      "requestheader-username-headers": JSON.stringify(names("username-headers")),
    },
  };
}
