import { unresolvable, unschedulable } from "../framework/refusal.ts";
import { gangPlugin } from "../plugins/queue/gang-scheduling.ts";
import { topologyPlugin } from "../plugins/queue/topology-placement.ts";
import { makeRoom } from "./make-room.ts";
import { bestPlacement, placementsOf } from "./placements.ts";
import { decideAll, Trial } from "./trial.ts";
import type { Assigned, Decision, Unschedulable } from "../framework/decision.ts";
import type { Refusal } from "../framework/refusal.ts";
import type { QueueEntry } from "../queue/queue-entry.ts";
import type { ClusterState } from "../state/cluster-state.ts";
import type { PodGroups, SchedulingGroup } from "../state/pod-groups.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { GroupOutcome } from "./group-condition.ts";
import type { Placement } from "./placements.ts";
import type { GroupPlan, MemberOutcome } from "./trial.ts";

/**
 * One attempt to schedule all waiting pods of a group (KEP-4671, documentation page "PodGroup Scheduling"): each is decided as if those before
 * it were there already. When enough of the group have nodes then, those are bound; else everything is taken back, and others have to leave
 * if that makes the group large enough. A group of which enough run, or need not, has its pods decided one by one.
 */
export async function attemptGroup(entries: readonly QueueEntry[], group: SchedulingGroup, driver: GroupDriver): Promise<GroupOutcome> {
  const attempt = { entries, group, driver };
  const schedulers = new Set(group.members.values().map(({ pod }) => pod.spec?.schedulerName ?? ""));
  if (schedulers.size > 1) return refuseAll(attempt, { ...unresolvable(`${named(group)} has pods of several schedulers`), plugin: gangPlugin });
  const placements = placementsOf(group, driver.state);
  if (placements.length === 0) return refuseAll(attempt, { ...unresolvable(`no node is in a topology domain of ${named(group)}`), plugin: topologyPlugin });
  const running = runningOf(group, driver.state);
  const isOpen = running >= group.minCount;
  if (isOpen && placements[0] === undefined) return attemptEach(attempt, running);
  const wanted = isOpen ? 1 : group.minCount - running;
  const trials = await tryPlacements(attempt, placements);
  const chosen = trials[bestTrial(attempt, trials, wanted)]!;
  if (chosen.trial.placed >= wanted) return carryOut(attempt, chosen.trial);
  const why = tooFew(group, running + chosen.trial.placed);
  if (placements[0] !== undefined) return giveUp(attempt, chosen.trial, why, rejectorsIn(trials));
  const rooms = await makeRoom({ members: chosen.trial.members, running, group, driver });
  return rooms === undefined ? giveUp(attempt, chosen.trial, why) : waitFor(attempt, chosen.trial, rooms);
}

export interface GroupDriver {
  readonly state: ClusterState;
  readonly groups: PodGroups;
  /** `placement`: the only nodes that come into question; `mayPreempt`: whether the pod may push out others by itself. */
  decide(entry: QueueEntry, options: { readonly placement?: Placement | undefined; readonly mayPreempt?: boolean }): MemberOutcome | Promise<MemberOutcome>;
  /** Whether the attempt is still ours: the pod has not gone meanwhile. */
  isOpen(entry: QueueEntry): boolean;
  bind(entry: QueueEntry, plan: GroupPlan): void;
  /** `heldNode`: room that is kept for the pod. */
  refuse(entry: QueueEntry, refusal: Refusal, heldNode?: string): void;
  fail(entry: QueueEntry, decision: Exclude<Decision, Assigned>): void;
}

/** Where a pod of a group will have room, and who has to leave for that. */
export interface Room {
  readonly nodeName: string;
  readonly victims: readonly PodInfo[];
}

interface Attempt {
  readonly entries: readonly QueueEntry[];
  readonly group: SchedulingGroup;
  readonly driver: GroupDriver;
}

async function attemptEach({ entries, driver, group }: Attempt, running: number): Promise<GroupOutcome> {
  let bound = 0;
  for (const entry of entries) {
    const decided = driver.decide(entry, { mayPreempt: true });
    const outcome = decided instanceof Promise ? await decided : decided;
    if (!driver.isOpen(entry)) continue;
    const trial = new Trial(driver.state);
    trial.note(entry, outcome);
    const { plan, decision, refusal } = trial.members[0]!;
    if (plan !== undefined) {
      bound += 1;
      driver.bind(entry, plan);
    } else if (decision.kind === "assigned") driver.refuse(entry, refusal!);
    else driver.fail(entry, decision);
  }
  return running + bound > 0 ? scheduled : { reason: "Unschedulable", message: noneFits(group) };
}

interface PlacementTrial {
  readonly placement: Placement | undefined;
  readonly trial: Trial;
  /** What the placement's nodes looked like with the pods on them, by the plugins that score placements. */
  readonly nodes: ClusterState["nodes"];
}

/** Each placement by itself; afterwards the state is as before. */
async function tryPlacements({ entries, driver }: Attempt, placements: readonly (Placement | undefined)[]): Promise<readonly PlacementTrial[]> {
  const trials: PlacementTrial[] = [];
  for (const placement of placements) {
    const trial = new Trial(driver.state);
    await decideAll(trial, entries, (entry) => driver.decide(entry, { placement }));
    const nodes = placement === undefined ? [] : [...placement.nodeNames].flatMap((name) => driver.state.node(name) ?? []);
    trial.takeBack();
    trials.push({ placement, trial, nodes });
  }
  return trials;
}

/** Of the placements that enough pods fit in the best; of others the one that most fit in. */
function bestTrial({ driver }: Attempt, trials: readonly PlacementTrial[], wanted: number): number {
  if (trials.length === 1) return 0;
  const feasible = trials.filter(({ trial }) => trial.placed >= wanted);
  if (feasible.length === 0) return trials.reduce((best, { trial }, index) => (trial.placed > trials[best]!.trial.placed ? index : best), 0);
  const { profile } = feasible[0]!.trial.members[0]!;
  const results = feasible.map(({ nodes, trial }) => ({ nodes, pods: trial.placed }));
  return trials.indexOf(feasible[bestPlacement({ snapshot: driver.state }, profile, results)]!);
}

function carryOut({ driver }: Attempt, trial: Trial): GroupOutcome {
  trial.repeat();
  for (const { entry, decision, plan, refusal } of trial.members) {
    if (!driver.isOpen(entry)) plan?.undo();
    else if (plan !== undefined) driver.bind(entry, plan);
    else if (decision.kind === "assigned") driver.refuse(entry, refusal!);
    else driver.fail(entry, decision);
  }
  return scheduled;
}

/** `rejectors`: who refused any of the pods in any of the placements. */
function giveUp({ driver }: Attempt, trial: Trial, why: Refusal, rejectors: ReadonlySet<string> = new Set()): GroupOutcome {
  for (const { entry, decision, refusal } of trial.members) {
    if (!driver.isOpen(entry)) continue;
    if (decision.kind === "assigned") driver.refuse(entry, refusal ?? why);
    else driver.fail(entry, decision.kind === "failed" ? decision : { ...decision, rejectors: decision.rejectors.union(rejectors) });
  }
  const isError = trial.members.some(({ decision }) => decision.kind === "failed");
  return { reason: isError ? "SchedulerError" : "Unschedulable", message: why.reasons.join(", ") };
}

/** Others are asked to leave; what the pods need is kept for them. */
function waitFor({ driver }: Attempt, trial: Trial, rooms: ReadonlyMap<QueueEntry, Room>): GroupOutcome {
  for (const { entry, decision, refusal } of trial.members) {
    if (!driver.isOpen(entry)) continue;
    const room = rooms.get(entry);
    if (decision.kind === "assigned") driver.refuse(entry, refusal ?? waiting, room?.nodeName);
    else driver.fail(entry, room === undefined || decision.kind === "failed" ? decision : withRoom(decision, room, driver.state));
  }
  return { reason: "Unschedulable", message: waiting.reasons[0]! };
}

function withRoom(decision: Unschedulable, { nodeName, victims }: Room, state: ClusterState): Unschedulable {
  const displaced = state.nominatedTo(nodeName).filter(({ priority }) => priority < decision.pod.priority);
  const note = `preemption: found a potential placement for pod on node ${nodeName}, preempting ${victims.length} victims`;
  return { ...decision, message: `${decision.message} ${note}`, postFilter: { message: note, nominatedNodeName: nodeName, victims, displaced } };
}

function refuseAll({ entries, driver }: Attempt, refusal: Refusal): GroupOutcome {
  for (const entry of entries) driver.refuse(entry, refusal);
  return { reason: "Unschedulable", message: refusal.reasons.join(", ") };
}

/** How many of the group have nodes. */
function runningOf({ members }: SchedulingGroup, state: ClusterState): number {
  return members.keys().reduce((count, uid) => (state.nodeOf(uid) === undefined ? count : count + 1), 0);
}

function rejectorsIn(trials: readonly PlacementTrial[]): ReadonlySet<string> {
  return new Set(trials.flatMap(({ trial }) => trial.members.flatMap(({ decision }) => (decision.kind === "unschedulable" ? [...decision.rejectors] : []))));
}

function tooFew(group: SchedulingGroup, count: number): Refusal {
  const text = count >= group.minCount ? noneFits(group) : `${named(group)} needs ${group.minCount} pods to run together, and there is room for ${count}`;
  return { ...unschedulable(text), plugin: gangPlugin };
}

const named = ({ group }: SchedulingGroup) => `pod group ${JSON.stringify(group.metadata.name)}`;
const noneFits = (group: SchedulingGroup) => `no pod of ${named(group)} fits`;
const scheduled: GroupOutcome = { reason: "Scheduled", message: "" };
const waiting: Refusal = { ...unschedulable("waiting for pods to leave that make room for the pod group"), plugin: gangPlugin };
