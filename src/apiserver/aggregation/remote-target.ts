/** Where the server behind an APIService is. */
import type { Service } from "../../api/core-v1/types.ts";
import { isAllowedAddress } from "../handlers/subresources/proxy.ts";
import { findObject } from "../registry/rule-context.ts";
import type { ServerState } from "../server-state.ts";
import { serviceAddresses } from "../webhooks/service-address.ts";
import type { RemoteVersion } from "./api-service-index.ts";
import type { ExtensionTarget } from "./connector.ts";

/** One target for each ready endpoint. Throws an Error that says why there is none. */
export function targetsOf(server: ServerState, { service, caBundle, isInsecure }: RemoteVersion): ExtensionTarget[] {
  const {
    type,
    clusterIP = "",
    externalName = "",
  } = (findObject(server, "/services", service.namespace, service.name) as { spec?: Service["spec"] } | undefined)?.spec ?? {};
  if (clusterIP === "None") throw new Error('cannot route to service with ClusterIP "None"');
  const isName = type === "ExternalName";
  const host = hostAndPort(isName ? externalName : clusterIP, service.port);
  return serviceAddresses(server, service).map((address) => {
    // A name is the choice of whoever may write Services; endpoints may be written by others.
    if (!isName && !isAllowedAddress(address.host)) throw new Error("address not allowed");
    return { host, address, serverName: `${service.name}.${service.namespace}.svc`, isInsecure, ...(caBundle !== undefined && { caBundle }) };
  });
}

function hostAndPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** `/apis/GROUP/VERSION`. */
export function versionPath({ group, version }: Pick<RemoteVersion, "group" | "version">): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}
