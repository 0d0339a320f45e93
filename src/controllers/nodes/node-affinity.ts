import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, NodeSelectorRequirement, PodSpec } from "../../api/core-v1/types.ts";

/** Whether a node is one that a pod's `nodeSelector` and required node affinity allow (API reference "NodeSelector"). */
export function allowsNode(spec: DeepReadonly<PodSpec>, node: DeepReadonly<Node>): boolean {
  const labels = node.metadata.labels ?? {};
  if (Object.entries(spec.nodeSelector ?? {}).some(([key, value]) => labels[key] !== value)) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined || required === null) return true;
  return (required.nodeSelectorTerms ?? []).some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length === 0 && matchFields.length === 0) return false;
    return (
      matchExpressions.every((term) => fits(term, labels[term.key])) &&
      matchFields.every((term) => term.key === "metadata.name" && fits(term, node.metadata.name))
    );
  });
}

function fits({ operator, values = [] }: DeepReadonly<NodeSelectorRequirement>, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return isWhole(value) && isWhole(values[0]) && Number(value) > Number(values[0]);
    case "Lt":
      return isWhole(value) && isWhole(values[0]) && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

function isWhole(text: string | undefined): boolean {
  return text !== undefined && /^[+-]?\d+$/.test(text);
}
