/**
 * The flow schemas and priority levels that every cluster has: made at start and kept (documentation page "API Priority and Fairness:
 * Maintenance of the mandatory and suggested configuration objects"). The mandatory ones always are as they must be; a suggested one only
 * while its annotation says so, or while nobody has changed it.
 */
import data from "../../api/data/bootstrap-flowcontrol.json" with { type: "json" };
import { fixedFlowSchemas, fixedPriorityLevels } from "../../api/flowcontrol-v1/fixed-specs.ts";
import { isSemanticallyEqual } from "../../api/meta/internal-form.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { isConflict, isNotFound } from "../../apimachinery/status.ts";
import { sleep } from "../../base/clock.ts";
import { isAbort } from "../../base/task-group.ts";
import { createInternally, deleteInternally, updateInternally } from "../registry/internal-writes.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { ServerState } from "../server-state.ts";

const group = "flowcontrol.apiserver.k8s.io";
const manager = "api-priority-and-fairness-config-producer-v1";
const annotation = "apf.kubernetes.io/autoupdate-spec";
/** How long an object may differ before it is mended. */
const maintenanceMs = 60_000;

type FlowKind = "FlowSchema" | "PriorityLevelConfiguration";
const resources: Readonly<Record<FlowKind, string>> = { PriorityLevelConfiguration: "prioritylevelconfigurations", FlowSchema: "flowschemas" };
const mandatory: Readonly<Record<FlowKind, ReadonlyMap<string, unknown>>> = { FlowSchema: fixedFlowSchemas, PriorityLevelConfiguration: fixedPriorityLevels };

/** Makes what is missing, then keeps it so in the background. */
export async function keepFlowControl(server: ServerState): Promise<void> {
  await maintain(server);
  const caches = kinds.map((kind) => definitionOf(server, kind).storage!.cache);
  let wake = () => {};
  const stops = caches.map((cache) => cache.listen(() => wake()));
  server.tasks.start("flow control objects", async (signal) => {
    const changed = () => new Promise<void>((resolve) => (wake = resolve));
    signal.addEventListener("abort", () => wake(), { once: true });
    while (!signal.aborted) {
      if (plans(server).every(({ changes }) => changes.length === 0)) await changed();
      else {
        await sleep(server.clock, maintenanceMs, signal).catch((error: unknown) => {
          if (!isAbort(error, signal)) throw error;
        });
        if (!signal.aborted) await maintain(server).catch((error: unknown) => server.log.warn("Could not keep the objects of flow control", { error }));
      }
    }
    for (const stop of stops) stop();
  });
}

/** Levels first: schemas refer to them. */
const kinds: readonly FlowKind[] = ["PriorityLevelConfiguration", "FlowSchema"];

export interface FlowObject {
  readonly name: string;
  readonly spec: object;
}

export type FlowObjectChange = {
  readonly act: "create" | "restore" | "annotate" | "delete";
  readonly name: string;
  readonly spec?: object;
  readonly isOurs?: boolean;
};

/** What is to be done so that the objects of one kind are as they should be. `wanted` are the suggested and the mandatory ones. */
export function planFlowObjects(kind: FlowKind, existing: ReadonlyMap<string, KubeObject>, wanted: readonly FlowObject[]): FlowObjectChange[] {
  const names = new Set(wanted.map(({ name }) => name));
  const obsolete = [...existing.values()].filter(({ metadata }) => !names.has(metadata.name!) && metadata.annotations?.[annotation] === "true");
  return [
    ...wanted.flatMap((object) => planOne(kind, existing.get(object.name), object)),
    ...obsolete.map(({ metadata }): FlowObjectChange => ({ act: "delete", name: metadata.name! })),
  ];
}

function planOne(kind: FlowKind, current: KubeObject | undefined, { name, spec }: FlowObject): FlowObjectChange[] {
  if (current === undefined) return [{ act: "create", name, spec }];
  const mark = current.metadata.annotations?.[annotation];
  const isMandatory = mandatory[kind].has(name);
  // Who has said nothing and changed nothing leaves it to us.
  const isOurs = isMandatory || mark === "true" || (mark !== "false" && current.metadata.generation === 1);
  const wanted = isMandatory ? keepingShares(spec, current["spec"] as object) : spec;
  if (isOurs && !isSemanticallyEqual(`api.flowcontrol.v1.${kind}Spec`, current["spec"], wanted)) return [{ act: "restore", name, spec: wanted }];
  return mark === String(isOurs) ? [] : [{ act: "annotate", name, isOurs }];
}

/** The shares of the exempt level are the administrator's. */
function keepingShares(spec: object, current: object): object {
  return "exempt" in spec && "exempt" in current ? { ...spec, exempt: current.exempt } : spec;
}

function plans(server: ServerState): { definition: ResourceDefinition; kind: FlowKind; changes: FlowObjectChange[] }[] {
  return kinds.map((kind) => {
    const definition = definitionOf(server, kind);
    const { cache } = definition.storage!;
    const existing = new Map([...cache.state.entries()].map(([name, stored]) => [name, cache.parse(stored)]));
    return { definition, kind, changes: planFlowObjects(kind, existing, data.objects[kind] as FlowObject[]) };
  });
}

async function maintain(server: ServerState): Promise<void> {
  for (const { definition, kind, changes } of plans(server)) for (const change of changes) await carryOut(server, { definition, kind }, change);
}

/** What somebody else changes at this moment is looked at again. */
async function carryOut(
  server: ServerState,
  { definition, kind }: { definition: ResourceDefinition; kind: FlowKind },
  { act, name, spec, isOurs = true }: FlowObjectChange,
): Promise<void> {
  const annotations = { [annotation]: String(isOurs) };
  try {
    switch (act) {
      case "create":
        await createInternally(server, definition, { kind, apiVersion: `${group}/v1`, metadata: { name, annotations }, spec }, manager);
        return;
      case "delete":
        await deleteInternally(server, definition, { namespace: "", name });
        return;
      case "restore":
      case "annotate":
        await updateInternally(server, definition, { namespace: "", name, fieldManager: manager }, (old) => ({
          ...old,
          metadata: { ...old.metadata, annotations: { ...old.metadata.annotations, ...annotations } },
          ...(spec !== undefined && { spec }),
        }));
    }
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

function definitionOf(server: ServerState, kind: FlowKind): ResourceDefinition {
  return server.resources.find(group, "v1", resources[kind])!;
}
