/** Node labels that have a successor (documentation page "Well-Known Labels, Annotations and Taints"). */
const successors: ReadonlyMap<string, readonly [since: string, successor: string]> = new Map([
  ["beta.kubernetes.io/arch", ["v1.14", "kubernetes.io/arch"]],
  ["beta.kubernetes.io/os", ["v1.14", "kubernetes.io/os"]],
  ["failure-domain.beta.kubernetes.io/region", ["v1.17", "topology.kubernetes.io/region"]],
  ["failure-domain.beta.kubernetes.io/zone", ["v1.17", "topology.kubernetes.io/zone"]],
  ["beta.kubernetes.io/instance-type", ["v1.17", "node.kubernetes.io/instance-type"]],
]);

/** What a warning says about the label, or undefined when it is not deprecated. */
export function nodeLabelDeprecation(label: string): string | undefined {
  const entry = successors.get(label);
  return entry === undefined ? undefined : `deprecated since ${entry[0]}; use "${entry[1]}" instead`;
}
