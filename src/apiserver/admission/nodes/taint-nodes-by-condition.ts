/** TaintNodesByCondition: a new node takes no pods before somebody found it ready. */
import type { Node } from "../../../api/core-v1/types.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";

const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

export const taintNodesByCondition: AdmissionPlugin = {
  name: "TaintNodesByCondition",
  operations: new Set(["CREATE"]),
  resources: new Set(["/nodes"]),
  mutate,
};

function mutate({ object, subresource }: AdmissionRequest): void {
  if (subresource !== "") return;
  const spec = ((object as unknown as Node).spec ??= {});
  if ((spec.taints ?? []).some(({ key, effect }) => key === taint.key && effect === taint.effect)) return;
  spec.taints = [...(spec.taints ?? []), { ...taint }];
}
