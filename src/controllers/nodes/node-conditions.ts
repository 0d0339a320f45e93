import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, NodeCondition, Taint } from "../../api/core-v1/types.ts";

export function nodeCondition(node: DeepReadonly<Node>, type: string): DeepReadonly<NodeCondition> | undefined {
  return node.status?.conditions?.find((condition) => condition.type === type);
}

/** `True`, `False` or `Unknown`; undefined when the node never said. */
export function readyStatus(node: DeepReadonly<Node>): string | undefined {
  return nodeCondition(node, "Ready")?.status;
}

export function hasTaint(node: DeepReadonly<Node>, key: string, effect?: string): boolean {
  return taintsOf(node).some((taint) => taint.key === key && (effect === undefined || taint.effect === effect));
}

export function taintsOf({ spec }: DeepReadonly<Node>): readonly DeepReadonly<Taint>[] {
  return spec?.taints ?? [];
}

/** Region and zone together: nodes of one zone tend to fail together. Empty when the node says neither. */
export function zoneKey({ metadata }: DeepReadonly<Node>): string {
  const region = metadata.labels?.["topology.kubernetes.io/region"] ?? metadata.labels?.["failure-domain.beta.kubernetes.io/region"] ?? "";
  const zone = metadata.labels?.["topology.kubernetes.io/zone"] ?? metadata.labels?.["failure-domain.beta.kubernetes.io/zone"] ?? "";
  return region === "" && zone === "" ? "" : `${region}:\0:${zone}`;
}

export const notReadyTaint = "node.kubernetes.io/not-ready";
export const unreachableTaint = "node.kubernetes.io/unreachable";
