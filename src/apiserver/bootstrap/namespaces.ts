/** The namespaces every cluster has. */
import { createInternally } from "../registry/internal-writes.ts";
import type { ServerState } from "../server-state.ts";

export const systemNamespaces = ["kube-system", "kube-public", "kube-node-lease", "default"] as const;

export async function createNamespaces(server: ServerState): Promise<void> {
  const definition = server.resources.find("", "v1", "namespaces")!;
  for (const name of systemNamespaces) {
    if (definition.storage!.cache.get(name) === undefined)
      await createInternally(server, definition, { kind: "Namespace", apiVersion: "v1", metadata: { name } });
  }
}
