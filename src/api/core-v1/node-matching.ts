/** Which nodes a pod, or a volume, may have: node selectors and required node affinity (API type "NodeSelector"). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from "./types.ts";

/** Whether a node is one that a pod's `nodeSelector` and required node affinity allow. */
export function allowsNode(spec: DeepReadonly<PodSpec> | undefined, node: SelectableNode): boolean {
  const selector = spec?.nodeSelector;
  if (selector !== undefined && !matchesNodeLabels(selector, node.labels)) return false;
  const terms = requiredNodeTerms(spec);
  return terms === undefined || matchesAnyTerm(terms, node);
}

/** The terms of required node affinity, one of which has to select the node; undefined when there is none. */
export function requiredNodeTerms(spec: DeepReadonly<PodSpec> | undefined): readonly DeepReadonly<NodeSelectorTerm>[] | undefined {
  return spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
}

export function selectable({ metadata: { name = "", labels = {} } }: DeepReadonly<Node>): SelectableNode {
  return { name, labels };
}

/** What node selectors look at. */
export interface SelectableNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Whether one of the terms selects the node; an empty term selects nothing. */
export function matchesAnyTerm(terms: readonly DeepReadonly<NodeSelectorTerm>[], node: SelectableNode): boolean {
  return terms.some((term) => matchesTerm(term, node));
}

export function matchesTerm({ matchExpressions = [], matchFields = [] }: DeepReadonly<NodeSelectorTerm>, node: SelectableNode): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => satisfies(requirement, valueOf(node.labels, requirement.key))) &&
    matchFields.every((requirement) => satisfies(requirement, requirement.key === "metadata.name" ? node.name : undefined))
  );
}

function matchesNodeLabels(selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
  for (const key in selector) if (selector[key] !== valueOf(labels, key)) return false;
  return true;
}

function valueOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function satisfies({ operator, values = [] }: DeepReadonly<NodeSelectorRequirement>, value: string | undefined): boolean {
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
    case "Lt": {
      const actual = integerOf(value);
      const limit = integerOf(values[0]);
      if (actual === undefined || limit === undefined) return false;
      return operator === "Gt" ? actual > limit : actual < limit;
    }
    default:
      return false;
  }
}

function integerOf(text: string | undefined): bigint | undefined {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, "")) : undefined;
}
