import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { NodeInfo } from "../state/node-info.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { EventHint } from "./cluster-event.ts";
import type { Candidate, Diagnosis } from "./decision.ts";
import type { Refusal } from "./refusal.ts";

/**
 * The scheduling framework (Kubernetes documentation, "Scheduling Framework"): a plugin has a name and any of the extension points. All up
 * to `reserve` decide on a snapshot and change nothing; `preBind` and `bind` may wait and write.
 */
export interface Plugin {
  readonly name: string;
  /** What may make a pod schedulable that this plugin has refused. Absent: nothing does. */
  readonly events?: readonly EventHint[];
  /** QueueSort: negative when `left` is to be scheduled first. One plugin of a profile has it. */
  compare?(left: QueuedPod, right: QueuedPod): number;
  /** PreEnqueue: a refusal keeps the pod out of the queue. */
  preEnqueue?(pod: PodInfo): Refusal | undefined;
  /** PreFilter: what concerns all nodes. Answers the filter of each node, `"skip"` when none can be refused, or a refusal of all. */
  preFilter?(cycle: Cycle): NodeFilter | "skip" | Refusal;
  /** PostFilter: called when no node was left. The first answer that nominates ends the search. */
  postFilter?(cycle: Cycle, diagnosis: Diagnosis): PostFilterResult;
  /** PreScore: answers how each of the feasible nodes is scored, or `"skip"` when all are alike. */
  preScore?(cycle: Cycle, nodes: readonly NodeInfo[]): NodeScorer | "skip";
  /** PlacementScore: how good it is for a group of pods to be on these nodes, where some of it has been laid out; higher is better. */
  placementScore?(cycle: Pick<Cycle, "snapshot">, placement: { readonly nodes: readonly NodeInfo[]; readonly pods: number }): number;
  /** Reserve: claims what the pod needs on the chosen node, in memory. */
  reserve?(cycle: Cycle, node: NodeInfo): Reservation | Refusal | undefined;
  /** Permit: lets the pod go on, refuses it, or has it wait. */
  permit?(cycle: Cycle, node: NodeInfo): Refusal | PermitWait | undefined;
  /** Bind: writes the pod's node. Undefined leaves it to the next plugin. */
  bind?(cycle: Cycle, nodeName: string, signal: AbortSignal): Promise<void> | undefined;
  /** PostBind: the pod has been bound. */
  postBind?(cycle: Cycle, nodeName: string): void;
}

/** One attempt to schedule one pod. */
export interface Cycle {
  readonly pod: PodInfo;
  readonly snapshot: Snapshot;
  /** What a plugin keeps from one extension point to the next, under its own name. */
  readonly state: Map<string, unknown>;
}

/** Whether a node can take the pod, with what was worked out beforehand. Immutable. */
export interface NodeFilter {
  /** Only these nodes come into question. */
  readonly nodeNames?: ReadonlySet<string>;
  /** The answer depends on the pod's spec and the node info alone: pods of one template share it. */
  readonly isLocal?: true;
  /** Why the node cannot take the pod, or undefined when it can. */
  refuse(node: NodeInfo): Refusal | undefined;
  /** The same filter as if another pod were on the node too. Absent: the filter sees all it needs in the node info. */
  withPod?(pod: PodInfo, node: NodeInfo): NodeFilter;
  /** The same filter as if a pod had left the node. */
  withoutPod?(pod: PodInfo, node: NodeInfo): NodeFilter;
}

/** Higher is better, 0 to 100 after `normalize`. */
export interface NodeScorer {
  /** As for filters. */
  readonly isLocal?: true;
  score(node: NodeInfo): number;
  /** Brings all nodes' scores into range, in place (NormalizeScore). */
  normalize?(scores: number[], nodes: readonly NodeInfo[]): void;
}

export const maxNodeScore = 100;

/** Taken back when the pod is not bound after all; `preBind` writes it down first. */
export interface Reservation {
  unreserve(): void;
  /** What was written on the way to the binding; a refusal sends the pod back to the queue. */
  preBind?(signal: AbortSignal): Promise<Refusal | undefined>;
  /** Takes back what `preBind` wrote, when the pod is not bound after all. */
  revert?(signal: AbortSignal): Promise<void>;
}

/** The pod waits on its way to the node, at most `waitMs`. */
export interface PermitWait {
  readonly waitMs: number;
  /** Resolves when the pod may go on. */
  allowed(signal: AbortSignal): Promise<Refusal | undefined>;
}

/** What could let in a pod that fits nowhere. */
export interface PostFilterResult {
  /** What the pod's message says after the nodes' reasons. */
  readonly message: string;
  /** Something to be written that may let the pod in. */
  readonly write?: (signal: AbortSignal) => Promise<unknown>;
  /** No further plugin is asked. */
  readonly isFinal?: boolean;
  /** The node the pod is nominated to; `""` clears a nomination; undefined leaves it as it is. */
  readonly nominatedNodeName?: string | undefined;
  /** Pods that have to leave that node first. */
  readonly victims?: readonly PodInfo[];
  /** All nodes that could be made free, of which the nominated one is the best. */
  readonly candidates?: readonly Candidate[];
  /** Pods of lower priority whose nomination to that node is withdrawn. */
  readonly displaced?: readonly PodInfo[];
}

/** What queues are sorted by. */
export interface QueuedPod {
  readonly pod: DeepReadonly<Pod>;
  readonly priority: number;
  readonly queuedAtMs: number;
}
