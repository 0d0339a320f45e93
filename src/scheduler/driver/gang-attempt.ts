import { deepEqual } from "../../apimachinery/json.ts";
import { isRefusal, unschedulable } from "../framework/refusal.ts";
import { gangPlugin } from "../plugins/queue/gang-scheduling.ts";
import { reserve, unreserve } from "./binding.ts";
import type { Condition } from "../../api/meta-v1/types.ts";
import type { Assigned, Decision } from "../framework/decision.ts";
import type { Cycle, Reservation } from "../framework/plugin.ts";
import type { Outcome } from "../framework/schedule-pod.ts";
import type { Profile } from "../framework/profile.ts";
import type { Refusal } from "../framework/refusal.ts";
import type { QueueEntry } from "../queue/queue-entry.ts";
import type { ClusterState } from "../state/cluster-state.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { Gang } from "../state/pod-groups.ts";

/**
 * One attempt to schedule all waiting pods of a gang: each is decided as if those before it were there already. When the gang is large enough
 * then, those that have nodes are bound; else everything is taken back. Where more would have nodes if others left, those are pushed out only
 * if that makes the gang large enough.
 */
export async function attemptGang(entries: readonly QueueEntry[], gang: Gang, driver: GangDriver): Promise<Condition["status"]> {
  const trial = new Trial(driver);
  for (const entry of entries) trial.note(entry, await driver.decide(entry));
  const count = placedOf(gang, driver.state);
  const isEnough = count >= gang.minCount;
  const isComplete = isEnough && !trial.hasVictims;
  if (!isComplete) trial.takeBack();
  for (const { entry, decision, plan } of trial.members) {
    if (!driver.isOpen(entry)) {
      if (isComplete && plan !== undefined) plan.undo();
    } else if (decision.kind !== "assigned") driver.fail(entry, decision, isEnough);
    else if (plan === undefined) driver.refuse(entry, trial.refusalOf(entry) ?? incomplete(gang, count));
    else if (isComplete) driver.bind(entry, plan);
    else if (isEnough) driver.refuse(entry, waiting, decision.node.name);
    else driver.refuse(entry, incomplete(gang, count));
  }
  return isComplete ? "True" : "False";
}

export interface GangDriver {
  readonly state: ClusterState;
  decide(entry: QueueEntry): Promise<GangOutcome> | GangOutcome;
  /** Whether the attempt is still ours: the pod has not gone meanwhile. */
  isOpen(entry: QueueEntry): boolean;
  bind(entry: QueueEntry, plan: GangPlan): void;
  /** `heldNode`: room that is kept for the pod. */
  refuse(entry: QueueEntry, refusal: Refusal, heldNode?: string): void;
  /** `mayPreempt`: carries out what the decision says about making room. */
  fail(entry: QueueEntry, decision: Exclude<Decision, Assigned>, mayPreempt: boolean): void;
}

export interface GangOutcome extends Outcome {
  readonly profile: Profile;
}

/** A pod that is assumed on a node, and how to take that back. */
export interface GangPlan {
  readonly cycle: Cycle;
  readonly profile: Profile;
  readonly decision: Assigned;
  readonly reservations: readonly Reservation[];
  undo(): void;
}

interface Member {
  readonly entry: QueueEntry;
  readonly decision: Decision;
  readonly plan: GangPlan | undefined;
}

/** Lays decisions over the state one after the other, and takes them back in reverse. */
class Trial {
  readonly members: Member[] = [];
  readonly #state: ClusterState;
  readonly #undo: (() => void)[] = [];
  readonly #refusals = new Map<QueueEntry, Refusal>();
  hasVictims = false;

  constructor({ state }: GangDriver) {
    this.#state = state;
  }

  note(entry: QueueEntry, { decision, cycle, profile }: GangOutcome): void {
    if (decision.kind === "assigned") return this.#place(entry, { decision, cycle, profile });
    const { victims = [], nominatedNodeName = "" } = (decision.kind === "unschedulable" && decision.postFilter) || {};
    this.members.push({ entry, decision, plan: undefined });
    if (nominatedNodeName === "") return;
    this.hasVictims = true;
    for (const victim of victims) this.#remove(victim);
    this.#assume(entry.info, nominatedNodeName);
  }

  refusalOf(entry: QueueEntry): Refusal | undefined {
    return this.#refusals.get(entry);
  }

  takeBack(): void {
    for (const undo of this.#undo.toReversed()) undo();
  }

  #place(entry: QueueEntry, { decision, cycle, profile }: GangOutcome & { readonly decision: Assigned }): void {
    const reserved = reserve(cycle, profile, decision.node);
    if (isRefusal(reserved)) {
      this.#refusals.set(entry, reserved);
      this.members.push({ entry, decision, plan: undefined });
      return;
    }
    const { reservations } = reserved;
    this.#undo.push(() => unreserve(reservations));
    const forget = this.#assume(entry.info, decision.node.name);
    const undo = () => {
      forget();
      unreserve(reservations);
    };
    this.members.push({ entry, decision, plan: { cycle, profile, decision, reservations, undo } });
  }

  #assume(pod: PodInfo, nodeName: string): () => void {
    const state = this.#state;
    // Room that was promised is not taken twice.
    const promised = state.nominationOf(pod.uid);
    state.withdrawNomination(pod.uid);
    state.assume(pod, nodeName);
    const forget = () => {
      state.forget(pod.uid);
      if (promised !== undefined) state.nominate(pod, promised);
    };
    this.#undo.push(forget);
    return forget;
  }

  #remove(pod: PodInfo): void {
    const nodeName = this.#state.nodeOf(pod.uid);
    if (nodeName === undefined) return;
    const wasAssumed = this.#state.isAssumed(pod.uid);
    this.#state.removePod(pod.uid);
    this.#undo.push(() => (wasAssumed ? this.#state.assume(pod, nodeName) : this.#state.putPod(pod, nodeName)));
  }
}

/** How many of the gang have nodes. */
function placedOf({ members }: Gang, state: ClusterState): number {
  return members.keys().reduce((count, uid) => (state.nodeOf(uid) === undefined ? count : count + 1), 0);
}

function incomplete({ group, minCount }: Gang, count: number): Refusal {
  const name = JSON.stringify(group.metadata.name);
  return { ...unschedulable(`pod group ${name} needs ${minCount} pods to run together, and there is room for ${count}`), plugin: gangPlugin };
}

const waiting: Refusal = { ...unschedulable("waiting for pods to leave that make room for the pod group"), plugin: gangPlugin };

/** What the group's status says; undefined when it says so already. */
export function gangCondition({ group }: Gang, status: Condition["status"], nowText: string): Condition | undefined {
  const known = group.status?.conditions?.find(({ type }) => type === "PodGroupScheduled");
  const said =
    status === "True" ? { status, reason: "Scheduled", message: "" } : { status, reason: "Unschedulable", message: "not enough pods of the group fit" };
  if (known !== undefined && deepEqual({ status: known.status, reason: known.reason, message: known.message ?? "" }, said)) return undefined;
  const lastTransitionTime = known?.status === status ? known.lastTransitionTime : nowText;
  return { type: "PodGroupScheduled", ...said, lastTransitionTime };
}
