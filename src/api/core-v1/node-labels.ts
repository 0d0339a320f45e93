/** Well-known labels of nodes that have newer names (documentation page "Well-Known Labels, Annotations and Taints"). */
import type { FieldPath } from "../../apimachinery/field-path.ts";
import type { NodeSelectorTerm } from "./types.ts";

const deprecated: Readonly<Record<string, string>> = {
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};

/** What to use instead of a label, or undefined. */
export function nodeLabelDeprecation(label: string): string | undefined {
  return Object.hasOwn(deprecated, label) ? deprecated[label] : undefined;
}

export function nodeSelectorTermWarnings({ matchExpressions = [] }: NodeSelectorTerm, path: FieldPath): string[] {
  return matchExpressions.flatMap(({ key }, index) => {
    const deprecation = nodeLabelDeprecation(key);
    return deprecation === undefined ? [] : [`${path.child("matchExpressions").index(index).child("key")}: ${key} is ${deprecation}`];
  });
}
