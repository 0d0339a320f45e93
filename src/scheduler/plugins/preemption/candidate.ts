import { matchesLabels } from "../../../apimachinery/selectors/label-selector.ts";
import { refuseWithNominated } from "../../framework/find-feasible-nodes.ts";
import { addPod, removePod } from "../../framework/find-feasible-nodes.ts";
import { unresolvable } from "../../framework/refusal.ts";
import { selectorOf } from "../../state/pod-info.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { PodDisruptionBudget } from "../../../api/policy-v1/types.ts";
import type { FilteredNode } from "../../framework/find-feasible-nodes.ts";
import type { Candidate } from "../../framework/decision.ts";
import type { Cycle } from "../../framework/plugin.ts";
import type { Refusal } from "../../framework/refusal.ts";
import type { PodInfo } from "../../state/pod-info.ts";

/**
 * Finds the fewest pods of lower priority that have to leave a node: all of them go, then one after the other may stay if the pod still
 * fits, those first whose budget would be broken, the more important ones before the others.
 */
export function candidateOn(cycle: Cycle, start: FilteredNode, budgets: readonly DeepReadonly<PodDisruptionBudget>[]): Candidate | Refusal {
  const lower = start.node.pods.filter(({ priority }) => priority < cycle.pod.priority);
  if (lower.length === 0) return noVictims;
  const fits = (state: FilteredNode) => refuseWithNominated(cycle, state.node, state.filters);
  let state = lower.reduce(removePod, start);
  const refusal = fits(state);
  if (refusal !== undefined) return refusal;
  const { kept, others } = splitByBudget(lower.sort(byImportance), budgets);
  const victims: PodInfo[] = [];
  let violations = 0;
  for (const pod of [...kept, ...others]) {
    const withPod = addPod(state, pod);
    if (fits(withPod) === undefined) state = withPod;
    else {
      victims.push(pod);
      if (kept.includes(pod)) violations += 1;
    }
  }
  return { nodeName: start.node.name, victims: victims.sort(byImportance), violations };
}

const noVictims = unresolvable("No preemption victims found for incoming pod");

/** The best of several candidates: the least harm, by each measure in turn; the first of equals. */
export function leastHarm(candidates: readonly Candidate[]): Candidate | undefined {
  let best = candidates[0];
  for (const candidate of candidates) if (best !== undefined && candidate !== best && isLess(harmOf(candidate), harmOf(best))) best = candidate;
  return best;
}

function isLess(left: readonly number[], right: readonly number[]): boolean {
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return left[index]! < right[index]!;
  return false;
}

const known = new WeakMap<Candidate, readonly number[]>();

/** Worked out once for each candidate, since pods of one template share them. */
function harmOf(candidate: Candidate): readonly number[] {
  let harm = known.get(candidate);
  if (harm === undefined) known.set(candidate, (harm = measures.map((measure) => measure(candidate))));
  return harm;
}

/** Each as a number of which less is better. */
const measures: readonly ((candidate: Candidate) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => victims[0]?.priority ?? Number.NEGATIVE_INFINITY,
  // Shifted, so that more victims of negative priority are not better than fewer.
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),
  ({ victims }) => victims.length,
  ({ victims }) => -earliestStart(victims),
];

/** When the first of the most important victims started. */
function earliestStart(victims: readonly PodInfo[]): number {
  const highest = victims[0]?.priority;
  return Math.min(...victims.filter(({ priority }) => priority === highest).map(startedAt));
}

/** Higher priority first, then the one that has run longer. */
function byImportance(left: PodInfo, right: PodInfo): number {
  if (left.priority !== right.priority) return right.priority - left.priority;
  const [a, b] = [startedAt(left), startedAt(right)];
  return a === b ? 0 : a - b;
}

/** A pod that has not started yet is the newest. */
function startedAt({ pod }: PodInfo): number {
  return pod.status?.startTime === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(pod.status.startTime);
}

/** Which pods would break a disruption budget if they, and those before them, were evicted. */
function splitByBudget(pods: readonly PodInfo[], budgets: readonly DeepReadonly<PodDisruptionBudget>[]): { kept: PodInfo[]; others: PodInfo[] } {
  const left = budgets.map(({ status }) => status?.disruptionsAllowed ?? 0);
  const kept: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) {
    let isKept = false;
    for (const [index, budget] of budgets.entries()) {
      if (!protects(budget, pod) || budget.status?.disruptedPods?.[pod.name] !== undefined) continue;
      left[index]! -= 1;
      if (left[index]! < 0) isKept = true;
    }
    (isKept ? kept : others).push(pod);
  }
  return { kept, others };
}

function protects({ metadata, spec }: DeepReadonly<PodDisruptionBudget>, pod: PodInfo): boolean {
  if (metadata.namespace !== pod.namespace || Object.keys(pod.labels).length === 0) return false;
  const selector = selectorOf(spec?.selector);
  return selector.requirements.length > 0 && matchesLabels(selector, pod.labels);
}
