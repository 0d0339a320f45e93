import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, PodCondition } from "../../api/core-v1/types.ts";

/** A strategic merge patch of a pod's status that sets one condition: in its place, or at the end. `fields` are further members of the status. */
export function conditionPatch(pod: DeepReadonly<Pod>, condition: DeepReadonly<PodCondition>, fields: object = {}): { type: "strategic"; body: object } {
  const known = (pod.status?.conditions ?? []).map(({ type }) => type ?? "");
  const order = known.includes(condition.type ?? "") ? known : [...known, condition.type ?? ""];
  const status = { ...fields, "$setElementOrder/conditions": order.map((type) => ({ type })), conditions: [condition] };
  return { type: "strategic", body: { metadata: { uid: pod.metadata.uid }, status } };
}
