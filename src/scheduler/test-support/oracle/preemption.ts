import { firstObstacle, isFeasible } from "./feasible.ts";
import { labelsOf, nameOf, selects } from "./world.ts";
import type { Node, Pod } from "../../../api/core-v1/types.ts";
import type { PodDisruptionBudget } from "../../../api/policy-v1/types.ts";
import type { Placed, Selector, World } from "./world.ts";

/** Who would have to leave a node, and how many of them against their budget. */
export interface Eviction {
  readonly victims: readonly Pod[];
  readonly violations: number;
}

/** What preemption could do on each node, worked out from nothing; nodes where it cannot help are left out. */
export function evictions(pod: Pod, world: World): ReadonlyMap<string, Eviction> {
  const found = new Map<string, Eviction>();
  for (const node of world.nodes) {
    if (firstObstacle(pod, node, world) !== "pods") continue;
    const eviction = evictionOn(pod, node, world);
    if (eviction !== undefined) found.set(nameOf(node), eviction);
  }
  return found;
}

/** Everybody less important leaves; then they come back one by one, as long as the pod still fits. */
function evictionOn(pod: Pod, node: Node, world: World): Eviction | undefined {
  const priority = priorityOf(pod);
  const isLower = (one: Placed) => one.nodeName === nameOf(node) && priorityOf(one.pod) < priority;
  const lower = world.pods.filter(isLower);
  const fits = (pods: readonly Placed[]) => isFeasible(pod, node, { ...world, pods });
  let pods = world.pods.filter((one) => !isLower(one));
  if (lower.length === 0 || !fits(pods)) return undefined;
  const byImportance = lower.toSorted((a, b) => priorityOf(b.pod) - priorityOf(a.pod) || startOf(a.pod) - startOf(b.pod));
  const kept = overBudget(byImportance, world.budgets);
  const victims: Placed[] = [];
  for (const one of [...byImportance.filter((each) => kept.has(each)), ...byImportance.filter((each) => !kept.has(each))]) {
    if (fits([...pods, one])) pods = [...pods, one];
    else victims.push(one);
  }
  const inOrder = byImportance.filter((one) => victims.includes(one));
  return { victims: inOrder.map((one) => one.pod), violations: victims.filter((one) => kept.has(one)).length };
}

/** Less is better, measure after measure. */
export function harmOf({ victims, violations }: Eviction): readonly number[] {
  const priorities = victims.map(priorityOf);
  const highest = Math.max(...priorities);
  const firstStart = Math.min(...victims.filter((victim) => priorityOf(victim) === highest).map(startOf));
  return [violations, highest, priorities.reduce((sum, one) => sum + one + 2 ** 31, 0), victims.length, -firstStart];
}

export function compareHarm(left: readonly number[], right: readonly number[]): number {
  const index = left.findIndex((one, position) => one !== right[position]);
  return index < 0 ? 0 : left[index]! - right[index]!;
}

/** Those whose budget has nothing left for them, after those before them. */
function overBudget(pods: readonly Placed[], budgets: readonly PodDisruptionBudget[]): ReadonlySet<Placed> {
  const over = new Set<Placed>();
  for (const budget of budgets) {
    let left = budget.status?.disruptionsAllowed ?? 0;
    for (const one of pods) {
      const { namespace } = one.pod.metadata;
      if (namespace !== budget.metadata.namespace || !selects(budget.spec?.selector as Selector, labelsOf(one.pod))) continue;
      left -= 1;
      if (left < 0) over.add(one);
    }
  }
  return over;
}

export const priorityOf = ({ spec }: Pod) => spec?.priority ?? 0;
const startOf = ({ status }: Pod) => (status?.startTime === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(status.startTime));
