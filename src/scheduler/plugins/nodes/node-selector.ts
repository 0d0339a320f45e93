import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { NodeSelectorRequirement, NodeSelectorTerm } from "../../../api/core-v1/types.ts";

/** What node selectors look at. */
export interface SelectableNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Whether one of the terms selects the node; an empty term selects nothing (API type "NodeSelector"). */
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

export function matchesNodeLabels(selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
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
