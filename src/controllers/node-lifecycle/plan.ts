import { deepEqual } from "../../apimachinery/json.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { resources } from "../../client/index.ts";
import { nothingToDo, patchAction } from "../../operator/index.ts";
import { nodeCondition, notReadyTaint, readyStatus, taintsOf, unreachableTaint } from "../nodes/node-conditions.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, Taint } from "../../api/core-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/** What follows from a node's own conditions at once: taints that keep new pods away, and the old names of its labels. */
export function planNode({ node }: NodeSnapshot, nowMs: number): Plan {
  const actions: Action[] = [];
  const taints = withConditionTaints(node, nowMs);
  if (!deepEqual(taints, taintsOf(node))) actions.push(taintAction(node, taints));
  const labels = oldLabels(node);
  if (Object.keys(labels).length > 0) actions.push(patchAction(resources.nodes, node, { type: "strategic", body: { metadata: { labels } } }));
  return actions.length === 0 ? nothingToDo : { actions };
}

export interface NodeSnapshot {
  readonly node: DeepReadonly<Node>;
}

/** Replaces a node's taints, unless somebody changed the node meanwhile. */
export function taintAction(node: DeepReadonly<Node>, taints: readonly DeepReadonly<Taint>[]): Action {
  const body = { metadata: { resourceVersion: node.metadata.resourceVersion }, spec: { taints: taints.length === 0 ? null : taints } };
  return patchAction(resources.nodes, node, { type: "merge", body });
}

/** The taints by which pods are moved away from a node that is not ready (or not heard of), as its Ready condition asks. */
export function withEvictionTaint(node: DeepReadonly<Node>, nowMs: number): readonly DeepReadonly<Taint>[] {
  const status = readyStatus(node);
  const wanted = status === "False" ? notReadyTaint : status === "Unknown" ? unreachableTaint : undefined;
  const others = taintsOf(node).filter(({ key, effect }) => effect !== "NoExecute" || (key !== notReadyTaint && key !== unreachableTaint) || key === wanted);
  if (wanted === undefined || others.some(({ key, effect }) => key === wanted && effect === "NoExecute")) return others;
  return [...others, { key: wanted, effect: "NoExecute", timeAdded: formatTime(nowMs) }];
}

/** The taints without those that move pods away. */
export function withoutEvictionTaints(node: DeepReadonly<Node>): readonly DeepReadonly<Taint>[] {
  return taintsOf(node).filter(({ key, effect }) => effect !== "NoExecute" || (key !== notReadyTaint && key !== unreachableTaint));
}

function withConditionTaints(node: DeepReadonly<Node>, nowMs: number): readonly DeepReadonly<Taint>[] {
  const wanted = new Set<string>(node.spec?.unschedulable === true ? ["node.kubernetes.io/unschedulable"] : []);
  for (const { type, status, key } of conditionTaints) if (nodeCondition(node, type)?.status === status) wanted.add(key);
  const isOurs = ({ key, effect }: DeepReadonly<Taint>) => effect === "NoSchedule" && managedKeys.has(key ?? "");
  const kept = taintsOf(node).filter((taint) => !isOurs(taint) || wanted.has(taint.key ?? ""));
  const missing = [...wanted].filter((key) => !kept.some((taint) => isOurs(taint) && taint.key === key));
  return [...kept, ...missing.map((key) => ({ key, effect: "NoSchedule", timeAdded: formatTime(nowMs) }))];
}

/** Documentation page "Taints and Tolerations", "Taint Nodes by Condition". */
const conditionTaints = [
  { type: "Ready", status: "False", key: notReadyTaint },
  { type: "Ready", status: "Unknown", key: unreachableTaint },
  { type: "MemoryPressure", status: "True", key: "node.kubernetes.io/memory-pressure" },
  { type: "DiskPressure", status: "True", key: "node.kubernetes.io/disk-pressure" },
  { type: "NetworkUnavailable", status: "True", key: "node.kubernetes.io/network-unavailable" },
  { type: "PIDPressure", status: "True", key: "node.kubernetes.io/pid-pressure" },
];
const managedKeys: ReadonlySet<string> = new Set([...conditionTaints.map(({ key }) => key), "node.kubernetes.io/unschedulable"]);

/** Labels that have an older name, which is kept equal. */
const labelPairs = [
  ["kubernetes.io/os", "beta.kubernetes.io/os"],
  ["kubernetes.io/arch", "beta.kubernetes.io/arch"],
] as const;

function oldLabels({ metadata }: DeepReadonly<Node>): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [current, old] of labelPairs) {
    const value = metadata.labels?.[current];
    if (value !== undefined && metadata.labels?.[old] !== value) labels[old] = value;
  }
  return labels;
}
