/** Whether a node is one a pod wants (API fields `nodeSelector`, `affinity.nodeAffinity`). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, NodeSelector, NodeSelectorRequirement, Pod } from "../../api/core-v1/types.ts";

export function matchesNode(pod: DeepReadonly<Pod>, node: DeepReadonly<Node>): boolean {
  const selector = pod.spec?.nodeSelector ?? {};
  if (!Object.entries(selector).every(([key, value]) => node.metadata.labels?.[key] === value)) return false;
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesNodeSelector(required, node);
}

/** Whether one of the terms holds; a term without requirements never does. */
export function matchesNodeSelector(selector: DeepReadonly<NodeSelector>, node: DeepReadonly<Node>): boolean {
  const labels = node.metadata.labels ?? {};
  return (selector.nodeSelectorTerms ?? []).some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    const fields: Readonly<Record<string, string>> = { "metadata.name": node.metadata.name ?? "" };
    return matchExpressions.every((requirement) => holds(requirement, labels)) && matchFields.every((requirement) => holds(requirement, fields));
  });
}

function holds({ key, operator, values = [] }: DeepReadonly<NodeSelectorRequirement>, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[key];
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
      return /^-?\d+$/.test(value ?? "") && BigInt(value!) > BigInt(values[0] ?? "0");
    case "Lt":
      return /^-?\d+$/.test(value ?? "") && BigInt(value!) < BigInt(values[0] ?? "0");
    default:
      return false;
  }
}
