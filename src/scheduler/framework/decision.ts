import type { NodeInfo } from "../state/node-info.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { NodeFilter, PostFilterResult } from "./plugin.ts";
import type { NodeRefusals } from "./node-refusals.ts";
import type { Refusal } from "./refusal.ts";
import type { NodeVerdicts } from "./verdict-cache.ts";

/** What was decided for a pod and why: data, kept for whoever asks. */
export type Decision = Assigned | Unschedulable | Failed;

interface Decided {
  readonly pod: PodInfo;
  /** The nodes that were refused, each by the first plugin that did. */
  readonly refusals: NodeRefusals;
  /** How many nodes there were, and how many were looked at. */
  readonly nodes: number;
  readonly examined: number;
}
/** The pod goes to `node`, the best of those in `scores`. */
export interface Assigned extends Decided {
  readonly kind: "assigned";
  readonly node: NodeInfo;
  readonly scores: Scores;
}
/** No node can take the pod now. */
export interface Unschedulable extends Decided {
  readonly kind: "unschedulable";
  /** The text of the pod's condition and event. */
  readonly message: string;
  /** Plugins that refused; what they wait for brings the pod back. */
  readonly rejectors: ReadonlySet<string>;
  readonly pendingPlugins: ReadonlySet<string>;
  readonly postFilter: PostFilterResult | undefined;
}
/** An error ended the attempt: it is made again after a while. */
export interface Failed extends Decided {
  readonly kind: "failed";
  readonly message: string;
}

/** `values[p][n]` is what plugin `plugins[p]` gave node `nodes[n]`, weighted; `totals[n]` their sum. Empty when one node was left. */
export interface Scores {
  readonly nodes: readonly NodeInfo[];
  readonly plugins: readonly string[];
  readonly values: readonly (readonly number[])[];
  readonly totals: readonly number[];
}
export const noScores: Scores = { nodes: [], plugins: [], values: [], totals: [] };

/** What filtering found, for the plugins that look for a way out. */
export interface Diagnosis {
  readonly refusals: NodeRefusals;
  /** Refused by a plugin for all nodes at once. */
  readonly refusedByAll: Refusal | undefined;
  /** The filters in force. */
  readonly filters: readonly NamedFilter[];
  /** What is known from pods of the same template. */
  readonly verdicts?: NodeVerdicts | undefined;
  /** What preemption may choose from, when somebody outside has narrowed it. */
  readonly candidates?: readonly Candidate[];
}

/** A node that could take the pod if the victims left. */
export interface Candidate {
  readonly nodeName: string;
  /** The most important first. */
  readonly victims: readonly PodInfo[];
  /** How many of them a disruption budget would keep. */
  readonly violations: number;
}

export interface NamedFilter {
  readonly plugin: string;
  readonly filter: NodeFilter;
}
