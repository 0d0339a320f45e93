/**
 * What pressure on the node calls for now: pure, from what was seen before, what is seen now and the time (documentation page "Node-pressure
 * Eviction"). The manager carries it out and asks again.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { NodeUsage, PodUsage } from "../stats/usage.ts";
import { evictedReason, evictionWords } from "./messages.ts";
import type { EvictionWords } from "./messages.ts";
import { isMet, observe } from "./observations.ts";
import type { Observations } from "./observations.ts";
import { isCriticalPod, rankPods } from "./ranking.ts";
import { conditionOf, resourceOf } from "./thresholds.ts";
import type { PressureCondition, Signal, StarvedResource, Threshold } from "./thresholds.ts";

/** What is remembered from one look to the next. */
export interface EvictionState {
  /** Met, and not yet brought back by the least to reclaim. */
  readonly met: readonly Threshold[];
  readonly firstMetMs: ReadonlyMap<Threshold, number>;
  readonly conditionSeenMs: ReadonlyMap<PressureCondition, number>;
  /** Shown by the node, in this order. */
  readonly conditions: readonly PressureCondition[];
}

export const calm: EvictionState = { met: [], firstMetMs: new Map(), conditionSeenMs: new Map(), conditions: [] };

export interface EvictionInput {
  readonly thresholds: readonly Threshold[];
  readonly usage: NodeUsage;
  readonly nowMs: number;
  readonly transitionMs: number;
}

export interface EvictionPlan {
  readonly state: EvictionState;
  /** The one signal to act on; absent when nothing is to be done. */
  readonly reclaim?: Reclaim;
}

export interface Reclaim {
  readonly signal: Signal;
  readonly resource: StarvedResource;
  readonly threshold: Threshold;
  readonly observations: Observations;
}

export function planEviction(before: EvictionState, { thresholds, usage, nowMs, transitionMs }: EvictionInput): EvictionPlan {
  const observations = observe(usage);
  const seen = thresholds.filter(
    (threshold) =>
      isMet(threshold, observations, { withReclaim: false }) || (before.met.includes(threshold) && isMet(threshold, observations, { withReclaim: true })),
  );
  const firstMetMs = new Map(seen.map((threshold) => [threshold, before.firstMetMs.get(threshold) ?? nowMs]));
  const conditionSeenMs = new Map(before.conditionSeenMs);
  for (const { signal } of seen) conditionSeenMs.set(conditionOf(signal), nowMs);
  const conditions = [...conditionSeenMs].filter(([, seenMs]) => nowMs - seenMs < transitionMs || seenMs === nowMs).map(([condition]) => condition);
  for (const condition of conditionSeenMs.keys()) if (!conditions.includes(condition)) conditionSeenMs.delete(condition);
  const due = seen.filter((threshold) => nowMs - firstMetMs.get(threshold)! >= threshold.graceMs);
  const state = { met: due, firstMetMs, conditionSeenMs, conditions };
  const [threshold] = due.toSorted((a, b) => urgency(a) - urgency(b));
  if (threshold === undefined) return { state };
  return { state, reclaim: { signal: threshold.signal, resource: resourceOf(threshold.signal), threshold, observations } };
}

/** Memory first: it cannot be waited for. */
const urgency = ({ signal }: Threshold) => (conditionOf(signal) === "MemoryPressure" ? 0 : 1);

/** Who gives way, with the reasons it is told; undefined when nobody may be evicted. */
export function chooseVictim(
  reclaim: Reclaim,
  parts: { pods: readonly DeepReadonly<Pod>[]; podUsage: ReadonlyMap<string, PodUsage>; isOneFilesystem: boolean; maxGraceSeconds: number },
): Eviction | undefined {
  const { signal, resource, threshold, observations } = reclaim;
  const ranked = rankPods(signal, { pods: parts.pods, usage: parts.podUsage, isOneFilesystem: parts.isOneFilesystem });
  const pod = ranked.find((candidate) => !isCriticalPod(candidate));
  if (pod === undefined) return undefined;
  const words = evictionWords(resource, threshold, { observations, pod, usage: parts.podUsage.get(pod.metadata.uid ?? "") });
  const ownSeconds = pod.spec?.terminationGracePeriodSeconds ?? 30;
  return {
    pod,
    reason: evictedReason,
    ...words,
    isDisruption: true,
    graceSeconds: threshold.isHard ? immediateGraceSeconds : Math.min(parts.maxGraceSeconds, ownSeconds),
  };
}

export interface Eviction extends EvictionWords {
  readonly pod: DeepReadonly<Pod>;
  readonly reason: string;
  readonly graceSeconds: number;
  /** Whether the pod gives way to others: it is told so by the condition DisruptionTarget. */
  readonly isDisruption: boolean;
}

export const immediateGraceSeconds = 1;
