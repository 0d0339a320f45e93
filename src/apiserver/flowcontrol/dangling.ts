/**
 * Keeps the condition `Dangling` of every flow schema true to whether its priority level exists (documentation page "API Priority and
 * Fairness"). One task looks at all schemas after each change of a schema or a level.
 */
import type { FlowSchema, FlowSchemaCondition } from "../../api/flowcontrol-v1/types.ts";
import { isConflict, isNotFound } from "../../apimachinery/status.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { handleApply } from "../handlers/writing/apply.ts";
import { internalContext } from "../registry/internal-writes.ts";
import type { ServerState } from "../server-state.ts";

const group = "flowcontrol.apiserver.k8s.io";
const retryMs = 10_000;
const manager = "api-priority-and-fairness-config-consumer-v1";

export async function keepDanglingConditions(server: ServerState): Promise<void> {
  if (server.flowControl === undefined) return;
  const caches = ["flowschemas", "prioritylevelconfigurations"].map((resource) => server.resources.find(group, "v1", resource)!.storage!.cache);
  let isChanged = true;
  let wake = () => {};
  const notice = () => {
    isChanged = true;
    wake();
  };
  const stops = caches.map((cache) => cache.listen(notice));
  server.tasks.start("flow schema conditions", async (signal) => {
    signal.addEventListener("abort", notice, { once: true });
    while (!signal.aborted) {
      if (isChanged) {
        isChanged = false;
        await writeConditions(server).catch((error: unknown) => {
          if (signal.aborted) return;
          server.log.warn("Could not write the conditions of flow schemas", { error });
          server.clock.after(retryMs, notice);
        });
      } else {
        await new Promise<void>((resolve) => (wake = resolve));
      }
    }
    for (const stop of stops) stop();
  });
}

/** The condition that a schema ought to have, or undefined when it has it. */
export function danglingCondition(schema: FlowSchema, levels: ReadonlySet<string>, now: string): FlowSchemaCondition | undefined {
  const level = schema.spec?.priorityLevelConfiguration?.name ?? "";
  const isFound = levels.has(level);
  const opening = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
  const wanted: FlowSchemaCondition = {
    type: "Dangling",
    status: isFound ? "False" : "True",
    lastTransitionTime: now,
    reason: isFound ? "Found" : "NotFound",
    message: isFound ? `${opening} and it exists` : `${opening} but there is no such object`,
  };
  const current = schema.status?.conditions?.find(({ type }) => type === "Dangling");
  if (current === undefined) return wanted;
  if (current.status === wanted.status && current.reason === wanted.reason && current.message === wanted.message) return undefined;
  return current.status === wanted.status ? { ...wanted, lastTransitionTime: current.lastTransitionTime ?? now } : wanted;
}

async function writeConditions(server: ServerState): Promise<void> {
  const { cache } = server.resources.find(group, "v1", "flowschemas")!.storage!;
  const levels = new Set([...server.resources.find(group, "v1", "prioritylevelconfigurations")!.storage!.cache.state.entries()].map(([name]) => name));
  const schemas = [...cache.state.entries()].map(([, stored]) => cache.parse(stored) as unknown as FlowSchema);
  await Promise.all(
    schemas.map(async (schema) => {
      const condition = danglingCondition(schema, levels, formatTime(server.clock.nowMs()));
      if (condition !== undefined) await applyCondition(server, schema.metadata.name!, condition);
    }),
  );
}

/** A schema that has gone or changed meanwhile is looked at again because of that change. */
async function applyCondition(server: ServerState, name: string, condition: FlowSchemaCondition): Promise<void> {
  const definition = server.resources.find(group, "v1", "flowschemas")!;
  const config = { apiVersion: `${group}/v1`, kind: "FlowSchema", metadata: { name }, status: { conditions: [condition] } };
  const context = internalContext(server, definition, "");
  const { info, request } = context;
  try {
    await handleApply(
      {
        ...context,
        query: new URLSearchParams({ fieldManager: manager, force: "true" }),
        info: { ...info, name, subresource: "status" },
        request: { ...request, body: Buffer.from(JSON.stringify(config)) },
      },
      definition,
    );
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
