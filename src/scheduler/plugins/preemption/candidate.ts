import { matchesLabels } from "../../../apimachinery/selectors/label-selector.ts";
import { refuseWithNominated } from "../../framework/find-feasible-nodes.ts";
import { addPod, removePod } from "../../framework/find-feasible-nodes.ts";
import { unresolvable } from "../../framework/refusal.ts";
import { selectorOf } from "../../state/pod-info.ts";
import { byImportance, startedAt, unitsOf } from "./preemption-unit.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { PodDisruptionBudget } from "../../../api/policy-v1/types.ts";
import type { FilteredNode } from "../../framework/find-feasible-nodes.ts";
import type { Candidate } from "../../framework/decision.ts";
import type { Cycle } from "../../framework/plugin.ts";
import type { Refusal } from "../../framework/refusal.ts";
import type { PodGroups } from "../../state/pod-groups.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { PreemptionUnit } from "./preemption-unit.ts";

/**
 * Finds the fewest pods of lower priority that have to leave a node: all of them go, then one after the other may stay if the pod still
 * fits, those first whose budget would be broken, the more important ones before the others.
 */
export function candidateOn(cycle: Cycle, start: FilteredNode, { budgets, groups }: Bystanders): Candidate | Refusal {
  const isLower = ({ priority }: { readonly priority: number }) => priority < cycle.pod.priority;
  const units = groups === undefined ? unitsOf(start.node.pods.filter(isLower), groups) : unitsOf(start.node.pods, groups).filter(isLower);
  if (units.length === 0) return noVictims;
  const fits = (state: FilteredNode) => refuseWithNominated(cycle, state.node, state.filters);
  const here = groups === undefined ? undefined : new Set(start.node.pods.map(({ uid }) => uid));
  const podsHere = ({ pods }: PreemptionUnit) => (here === undefined ? pods : pods.filter(({ uid }) => here.has(uid)));
  let state = units.flatMap(podsHere).reduce(removePod, start);
  const refusal = fits(state);
  if (refusal !== undefined) return refusal;
  const sorted = units.sort(byImportance);
  const all = sorted.flatMap(({ pods }) => pods);
  const kept = new Set(podsOverBudget(all, budgets));
  const isKept = ({ pods }: PreemptionUnit) => pods.some((pod) => kept.has(pod));
  const victims: PreemptionUnit[] = [];
  for (const unit of kept.size === 0 ? sorted : [...sorted.filter(isKept), ...sorted.filter((one) => !isKept(one))]) {
    const withUnit = podsHere(unit).reduce(addPod, state);
    if (fits(withUnit) === undefined) state = withUnit;
    else victims.push(unit);
  }
  const pods = victims.sort(byImportance).flatMap((unit) => unit.pods);
  return { nodeName: start.node.name, victims: pods, violations: pods.filter((pod) => kept.has(pod)).length };
}

/** What decides who may stay. */
export interface Bystanders {
  readonly budgets: readonly DeepReadonly<PodDisruptionBudget>[];
  /** Where groups of pods are served. */
  readonly groups?: PodGroups | undefined;
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

/** Which pods would break a disruption budget if they, and those before them, were evicted. */
export function podsOverBudget(pods: readonly PodInfo[], budgets: readonly DeepReadonly<PodDisruptionBudget>[]): PodInfo[] {
  const left = budgets.map(({ status }) => status?.disruptionsAllowed ?? 0);
  return pods.filter((pod) => {
    let isKept = false;
    for (const [index, budget] of budgets.entries()) {
      if (!protects(budget, pod) || budget.status?.disruptedPods?.[pod.name] !== undefined) continue;
      left[index]! -= 1;
      if (left[index]! < 0) isKept = true;
    }
    return isKept;
  });
}

function protects({ metadata, spec }: DeepReadonly<PodDisruptionBudget>, pod: PodInfo): boolean {
  if (metadata.namespace !== pod.namespace || Object.keys(pod.labels).length === 0) return false;
  const selector = selectorOf(spec?.selector);
  return selector.requirements.length > 0 && matchesLabels(selector, pod.labels);
}
