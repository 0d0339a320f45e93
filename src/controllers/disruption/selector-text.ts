import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { LabelSelector } from "../../api/meta-v1/types.ts";

/** A selector as events print it. */
export function selectorText(selector: DeepReadonly<LabelSelector> | undefined): string {
  if (selector === undefined) return "nil";
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
