/** The flow schemas and priority levels of a fresh cluster (documentation page "API Priority and Fairness: Default objects"). */
import data from "../../api/data/bootstrap-flowcontrol.json" with { type: "json" };
import type { KubeObject } from "../../apimachinery/object.ts";
import { createInternally, updateInternally } from "../registry/internal-writes.ts";
import type { ServerState } from "../server-state.ts";

const group = "flowcontrol.apiserver.k8s.io";
const resources = { FlowSchema: "flowschemas", PriorityLevelConfiguration: "prioritylevelconfigurations" } as const;

interface BootstrapObject {
  readonly name: string;
  readonly annotations?: Record<string, string>;
  readonly spec: object;
  readonly status?: object;
}

export async function createFlowControl(server: ServerState): Promise<void> {
  for (const kind of ["PriorityLevelConfiguration", "FlowSchema"] as const) {
    const definition = server.resources.find(group, "v1", resources[kind])!;
    for (const { name, annotations, spec, status } of data.objects[kind] as BootstrapObject[]) {
      if (definition.storage!.cache.get(name) !== undefined) continue;
      const object: KubeObject = { kind, apiVersion: `${group}/v1`, metadata: { name, ...(annotations !== undefined && { annotations }) }, spec };
      await createInternally(server, definition, object);
      if (status !== undefined) await updateInternally(server, definition, { namespace: "", name, subresource: "status" }, (old) => ({ ...old, status: withTimes(status, old.metadata.creationTimestamp ?? "") }));
    }
  }
}

/** Recorded states stand in the data with a mark where a time belongs. */
function withTimes(status: object, now: string): object {
  return JSON.parse(JSON.stringify(status).replaceAll('"<time>"', JSON.stringify(now))) as object;
}
