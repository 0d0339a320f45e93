/** The authorities that joined nodes trust: told where nodes read the cluster's ranges, and kept by each node beside its certificates. */
import { isNotFound } from "../../apimachinery/status.ts";
import { certificatesOf } from "../../apiserver/authn/certificate-trust.ts";
import { resources } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import type { KeyStore } from "../certificates/key-store.ts";
import { clusterInfo, settingsName } from "./prepare-joining.ts";

export const authorityEntry = "ca.crt";

/** Tells nodes that join, and those that have joined, of other authorities. Does nothing where no node may join. */
export async function tellNodes(client: Client, authority: string): Promise<void> {
  try {
    const { data } = await client.get(resources.configMaps, "kube-public", "cluster-info");
    const { clusters } = JSON.parse(data?.["kubeconfig"] ?? "{}") as { clusters?: readonly { cluster: { server: string } }[] };
    const server = clusters?.[0]?.cluster.server;
    if (server === undefined) return;
    await client.patch(resources.configMaps, "kube-public", "cluster-info", { type: "merge", body: { data: { kubeconfig: clusterInfo(server, authority) } } });
    await client.patch(resources.configMaps, "kube-system", settingsName, { type: "merge", body: { data: { [authorityEntry]: authority } } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** On a node: keeps what the cluster tells. What was told over a connection to an authority that is trusted may be trusted. */
export async function refreshAuthority(client: Client, store: KeyStore): Promise<void> {
  const { data } = await client.get(resources.configMaps, "kube-system", settingsName);
  const told = data?.[authorityEntry] ?? "";
  if (certificatesOf(told).length > 0 && told !== (await store.read("ca.crt"))) await store.write("ca.crt", told);
}
