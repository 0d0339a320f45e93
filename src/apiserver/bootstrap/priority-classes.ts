/** The two priority classes of system pods (documentation page "Pod Priority and Preemption"). */
import { createInternally } from "../registry/internal-writes.ts";
import type { ServerState } from "../server-state.ts";

const classes = [
  { name: "system-node-critical", value: 2_000_001_000, description: "Used for system critical pods that must not be moved from their current node." },
  {
    name: "system-cluster-critical",
    value: 2_000_000_000,
    description: "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  },
];

export async function createPriorityClasses(server: ServerState): Promise<void> {
  const definition = server.resources.find("scheduling.k8s.io", "v1", "priorityclasses")!;
  for (const { name, ...rest } of classes) {
    if (definition.storage!.cache.get(name) === undefined)
      await createInternally(server, definition, { kind: "PriorityClass", apiVersion: "scheduling.k8s.io/v1", metadata: { name }, ...rest });
  }
}
