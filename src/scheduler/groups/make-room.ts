import { refuseWithNominated } from "../framework/find-feasible-nodes.ts";
import { prepareFilters } from "../framework/prepare-filters.ts";
import { podsOverBudget } from "../plugins/preemption/candidate.ts";
import { hasLeavingVictim } from "../plugins/preemption/default-preemption.ts";
import { byImportance, unitsOf } from "../plugins/preemption/preemption-unit.ts";
import { decideAll, Trial } from "./trial.ts";
import type { QueueEntry } from "../queue/queue-entry.ts";
import type { ClusterState } from "../state/cluster-state.ts";
import type { SchedulingGroup } from "../state/pod-groups.ts";
import type { GroupDriver, Room } from "./attempt-group.ts";
import type { PreemptionUnit } from "../plugins/preemption/preemption-unit.ts";
import type { Member } from "./trial.ts";

/**
 * Finds the pods and groups of lower priority whose leaving lets the group in (documentation page "Workload-Aware Preemption"): all of them go,
 * the group is laid out once, and then one after the other may stay if the group's pods still fit where they are, those first whose budget
 * would be broken, the more important ones before the others. Answers where each pod will have room, the victims among them; undefined when
 * it would not help, is not wanted, or those asked earlier are still leaving. Changes nothing.
 */
export async function makeRoom({ members, running, group, driver }: RoomWanted): Promise<ReadonlyMap<QueueEntry, Room> | undefined> {
  const { state, groups } = driver;
  const refused = members.filter(({ decision, entry: { info } }) => decision.kind === "unschedulable" && info.pod.spec?.preemptionPolicy !== "Never");
  if (refused.length === 0 || !group.mayPreempt || isStillWaiting(members, state)) return undefined;
  const others = state.nodes.flatMap(({ pods }) => pods.filter(({ uid }) => !group.members.has(uid)));
  const units = unitsOf(others, groups).filter(({ priority }) => priority < group.priority);
  if (units.length === 0) return undefined;
  const trial = new Trial(state);
  const back = new Map(units.map((unit) => [unit, trial.remove(unit.pods)]));
  const entries = members.map(({ entry }) => entry);
  await decideAll(trial, entries, (entry) => driver.decide(entry, {}));
  const isEnough = trial.placed + running >= group.minCount;
  const victims = isEnough ? victimsOf(trial, back, state) : [];
  const nodeNames = new Map(trial.members.flatMap(({ entry, plan }) => (plan === undefined ? [] : [[entry, plan.decision.node.name]])));
  trial.takeBack();
  return isEnough ? roomsOf(nodeNames, refused, victims, state) : undefined;
}

export interface RoomWanted {
  /** What was decided for the group's pods that wait, and how many others run. */
  readonly members: readonly Member[];
  readonly running: number;
  readonly group: SchedulingGroup;
  readonly driver: GroupDriver;
}

/** Whether room that was made for the group is not free yet. */
function isStillWaiting(members: readonly Member[], state: ClusterState): boolean {
  return members.some(({ entry: { info } }) => {
    const node = state.node(state.nominationOf(info.uid) ?? "");
    return node !== undefined && hasLeavingVictim(node, info);
  });
}

/** Lets stay who may: the answer are those who may not. */
function victimsOf(trial: Trial, back: ReadonlyMap<PreemptionUnit, () => void>, state: ClusterState): readonly PreemptionUnit[] {
  const placed = trial.members.filter(({ plan }) => plan !== undefined);
  const chosen = new Set(placed.map(({ plan }) => plan!.decision.node.name));
  const isFar = ({ pods }: PreemptionUnit) => pods.every(({ pod }) => !chosen.has(pod.spec?.nodeName ?? ""));
  const restore = new Map(back);
  const units = [...back.keys()];
  const remaining = inOrder(
    units.filter((unit) => !isFar(unit)),
    state,
  );
  const far = units.filter(isFar);
  for (const unit of far) restore.get(unit)!();
  // Who is on other nodes matters only to pods that look beyond their own.
  if (far.length > 0 && !placed.every((member) => stillFits(member, state))) {
    for (const unit of far) restore.set(unit, trial.remove(unit.pods));
    remaining.push(...inOrder(far, state));
  }
  return remaining.filter((unit) => {
    if (unit.isLeaving) return true;
    restore.get(unit)!();
    if (placed.every((member) => stillFits(member, state))) return false;
    trial.remove(unit.pods);
    return true;
  });
}

function inOrder(units: readonly PreemptionUnit[], state: ClusterState): PreemptionUnit[] {
  const sorted = units.toSorted(byImportance);
  const over = podsOverBudget(
    sorted.flatMap(({ pods }) => pods),
    state.objects.podDisruptionBudgets.list(),
  );
  const kept = new Set(over);
  const breaks = ({ pods }: PreemptionUnit) => pods.some((pod) => kept.has(pod));
  return [...sorted.filter(breaks), ...sorted.filter((unit) => !breaks(unit))];
}

/** Whether the pod could go where it was laid. */
function stillFits({ entry: { info }, plan, profile }: Member, state: ClusterState): boolean {
  const { name } = plan!.decision.node;
  state.forget(info.uid);
  const cycle = { pod: info, snapshot: state, state: new Map() };
  const prepared = prepareFilters(cycle, profile.plugins);
  const node = state.node(name)!;
  const fits = prepared.kind === "prepared" && prepared.nodeNames?.has(name) !== false && refuseWithNominated(cycle, node, prepared.filters) === undefined;
  state.assume(info, name);
  return fits;
}

/** Victims are asked to leave by pods that had no room, where they can by one that goes to their node. */
function roomsOf(
  nodeNames: ReadonlyMap<QueueEntry, string>,
  refused: readonly Member[],
  victims: readonly PreemptionUnit[],
  state: ClusterState,
): ReadonlyMap<QueueEntry, Room> {
  const asking = refused.map(({ entry }) => entry).filter((entry) => nodeNames.has(entry));
  const rooms = new Map([...nodeNames].map(([entry, nodeName]) => [entry, { nodeName, victims: [] as Room["victims"][number][] }]));
  for (const pod of victims.flatMap(({ pods }) => pods)) {
    const nodeName = state.nodeOf(pod.uid);
    const entry = asking.find((one) => nodeNames.get(one) === nodeName) ?? asking[0];
    if (entry !== undefined) rooms.get(entry)!.victims.push(pod);
  }
  return rooms;
}
