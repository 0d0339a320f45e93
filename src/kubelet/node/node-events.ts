/** What a node's conditions tell as events when they change. Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { NodeCondition } from "../../api/core-v1/types.ts";
import type { EventText } from "../../client/index.ts";

export function conditionEvents(nodeName: string, before: readonly DeepReadonly<NodeCondition>[], after: readonly DeepReadonly<NodeCondition>[]): EventText[] {
  return after.flatMap(({ type, status }): EventText[] => {
    const old = before.find((condition) => condition.type === type);
    const reason = reasons[type]?.[status === "True" ? 1 : 0];
    if (reason === undefined || old === undefined || old.status === status) return [];
    return [{ type: "Normal", reason, message: `Node ${nodeName} status is now: ${reason}` }];
  });
}

/** Of a condition that is not so, and that is. */
const reasons: Readonly<Record<string, readonly [string, string]>> = {
  MemoryPressure: ["NodeHasSufficientMemory", "NodeHasInsufficientMemory"],
  DiskPressure: ["NodeHasNoDiskPressure", "NodeHasDiskPressure"],
  PIDPressure: ["NodeHasSufficientPID", "NodeHasInsufficientPID"],
  Ready: ["NodeNotReady", "NodeReady"],
};
