import { isRefusal } from "../framework/refusal.ts";
import { reserve, unreserve } from "../driver/binding.ts";
import type { Assigned } from "../framework/decision.ts";
import type { Cycle, Reservation } from "../framework/plugin.ts";
import type { Outcome } from "../framework/schedule-pod.ts";
import type { Profile } from "../framework/profile.ts";
import type { Refusal } from "../framework/refusal.ts";
import type { QueueEntry } from "../queue/queue-entry.ts";
import type { ClusterState } from "../state/cluster-state.ts";
import type { PodInfo } from "../state/pod-info.ts";

/** What was decided for one pod of a group, and under which profile. */
export interface MemberOutcome extends Outcome {
  readonly profile: Profile;
}

export interface Member extends MemberOutcome {
  readonly entry: QueueEntry;
  readonly plan: GroupPlan | undefined;
  /** What a Reserve plugin had against the node. */
  readonly refusal?: Refusal;
}

/** A pod that is assumed on a node, and how to take that back. */
export interface GroupPlan {
  readonly cycle: Cycle;
  readonly profile: Profile;
  readonly decision: Assigned;
  readonly reservations: readonly Reservation[];
  undo(): void;
}

/** Lays decisions over the state one after the other, and takes them back in reverse: nobody sees them before they are carried out. */
export class Trial {
  readonly #state: ClusterState;
  readonly #undo: (() => void)[] = [];
  #members: Member[] = [];

  constructor(state: ClusterState) {
    this.#state = state;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  /** How many pods have a node in it that had none. */
  get placed(): number {
    return this.#members.reduce((count, { plan }) => (plan === undefined ? count : count + 1), 0);
  }

  note(entry: QueueEntry, outcome: MemberOutcome): void {
    const { decision, cycle, profile } = outcome;
    if (decision.kind !== "assigned") return void this.#members.push({ ...outcome, entry, plan: undefined });
    const reserved = reserve(cycle, profile, decision.node);
    if (isRefusal(reserved)) return void this.#members.push({ ...outcome, entry, plan: undefined, refusal: reserved });
    const { reservations } = reserved;
    this.#undo.push(() => unreserve(reservations));
    const forget = this.#assume(entry.info, decision.node.name);
    const undo = () => {
      forget();
      unreserve(reservations);
    };
    this.#members.push({ ...outcome, entry, plan: { cycle, profile, decision, reservations, undo } });
  }

  /** The pods leave; the answer brings them back. */
  remove(pods: readonly PodInfo[]): () => void {
    const undo = pods.map((pod) => this.#remove(pod)).toReversed();
    let isBack = false;
    const restore = () => {
      if (!isBack) for (const one of undo) one();
      isBack = true;
    };
    this.#undo.push(restore);
    return restore;
  }

  takeBack(): void {
    for (const undo of this.#undo.toReversed()) undo();
    this.#undo.length = 0;
  }

  /** The same decisions once more, after they were taken back. */
  repeat(): void {
    const members = this.#members;
    this.#members = [];
    for (const { entry, ...outcome } of members) this.note(entry, outcome);
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

  #remove(pod: PodInfo): () => void {
    const state = this.#state;
    const nodeName = state.nodeOf(pod.uid);
    if (nodeName === undefined) return () => undefined;
    const wasAssumed = state.isAssumed(pod.uid);
    state.removePod(pod.uid);
    return () => (wasAssumed ? state.assume(pod, nodeName) : state.putPod(pod, nodeName));
  }
}

/** Notes what is decided for each of the pods; nobody else gets a turn in between unless somebody outside has to be asked. */
export async function decideAll(
  trial: Trial,
  entries: readonly QueueEntry[],
  decide: (entry: QueueEntry) => MemberOutcome | Promise<MemberOutcome>,
): Promise<void> {
  for (const entry of entries) {
    const outcome = decide(entry);
    trial.note(entry, outcome instanceof Promise ? await outcome : outcome);
  }
}
