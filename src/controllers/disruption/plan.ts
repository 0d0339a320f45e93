import { deepEqual } from "../../apimachinery/json.ts";
import { scaledCount } from "../../apimachinery/int-or-string.ts";
import { formatTime, parseTime } from "../../apimachinery/time.ts";
import { edited, referenceTo, resources } from "../../client/index.ts";
import { eventAction, updateStatusAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { isReady } from "../pods/pod-state.ts";
import { selectorText } from "./selector-text.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Condition } from "../../api/meta-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from "../../api/policy-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/** How many of a budget's pods may be evicted now (documentation page "Disruptions"): healthy ones beyond those that must stay. */
export function planBudget(snapshot: BudgetSnapshot, nowMs: number): Plan {
  const { budget, pods, scales } = snapshot;
  const actions: Action[] = [];
  const tell = (type: "Normal" | "Warning", reason: string, message: string) =>
    actions.push(eventAction(referenceTo(resources.podDisruptionBudgets, budget), { type, reason, message }));
  if (pods.length === 0) tell("Normal", "NoPods", "No matching pods found");
  const { expectedPods, desiredHealthy, needsScales } = wanted(snapshot);
  if (needsScales && scales.unmanaged.length > 0) {
    const message = `Pods selected by this PodDisruptionBudget (selector: ${selectorText(budget.spec?.selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
    tell("Warning", "UnmanagedPods", message);
  }
  const { disruptedPods, nextMs } = stillDisrupted(budget, pods, nowMs);
  const currentHealthy = pods.filter(
    ({ metadata, ...pod }) => metadata.deletionTimestamp === undefined && disruptedPods[metadata.name ?? ""] === undefined && isReady({ metadata, ...pod }),
  ).length;
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const { generation } = budget.metadata;
  const status: PodDisruptionBudgetStatus = {
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(Object.keys(disruptedPods).length > 0 && { disruptedPods }),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: conditionsOf(budget, disruptionsAllowed, nowMs),
  };
  const requeue = nextMs === undefined ? {} : { requeueAfterMs: nextMs };
  if (deepEqual(status, budget.status ?? {})) return { actions, ...requeue };
  const updated = edited<PodDisruptionBudget>(budget, (draft) => {
    draft.status = status;
  });
  return { actions: [...actions, updateStatusAction(resources.podDisruptionBudgets, updated, { onError: whenGone })], ...requeue };
}

export interface BudgetSnapshot {
  readonly budget: DeepReadonly<PodDisruptionBudget>;
  /** Those its selector chooses. */
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly scales: PodScales;
}
/** The sizes of what manages the pods, each once; and the names of pods that nothing with a size manages. */
export interface PodScales {
  readonly total: number;
  readonly unmanaged: readonly string[];
}

/** So long a pod that was evicted may take to begin to go. */
const disruptionPatienceMs = 120_000;

function wanted({ budget, pods, scales }: BudgetSnapshot): { expectedPods: number; desiredHealthy: number; needsScales: boolean } {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  if (maxUnavailable !== undefined) {
    const expectedPods = scales.total;
    return { expectedPods, desiredHealthy: Math.max(0, expectedPods - (scaledCount(maxUnavailable, expectedPods, "up") ?? 0)), needsScales: true };
  }
  if (typeof minAvailable === "number") return { expectedPods: pods.length, desiredHealthy: minAvailable, needsScales: false };
  if (minAvailable === undefined) return { expectedPods: pods.length, desiredHealthy: 0, needsScales: false };
  return { expectedPods: scales.total, desiredHealthy: scaledCount(minAvailable, scales.total, "up") ?? 0, needsScales: true };
}

/** Evicted pods that have not begun to go yet, but are still believed to. */
function stillDisrupted(budget: DeepReadonly<PodDisruptionBudget>, pods: readonly DeepReadonly<Pod>[], nowMs: number) {
  const disruptedPods: Record<string, string> = {};
  let nextMs: number | undefined;
  for (const [name, time] of Object.entries(budget.status?.disruptedPods ?? {})) {
    const pod = pods.find(({ metadata }) => metadata.name === name);
    const leftMs = parseTime(time) + disruptionPatienceMs - nowMs;
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || leftMs <= 0) continue;
    disruptedPods[name] = time;
    nextMs = Math.min(nextMs ?? leftMs, leftMs);
  }
  return { disruptedPods, nextMs };
}

function conditionsOf({ metadata, status }: DeepReadonly<PodDisruptionBudget>, allowed: number, nowMs: number): Condition[] {
  const current = status?.conditions?.find(({ type }) => type === "DisruptionAllowed");
  const value = allowed > 0 ? "True" : "False";
  const entry: Condition = {
    type: "DisruptionAllowed",
    status: value,
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    lastTransitionTime: current?.status === value ? (current.lastTransitionTime ?? formatTime(nowMs)) : formatTime(nowMs),
    reason: allowed > 0 ? "SufficientPods" : "InsufficientPods",
    message: "",
  };
  const others = (status?.conditions ?? []) as Condition[];
  return current === undefined ? [...others, entry] : others.map((condition) => (condition.type === "DisruptionAllowed" ? entry : condition));
}
