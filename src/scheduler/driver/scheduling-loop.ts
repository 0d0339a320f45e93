import { invariant } from "../../base/invariant.ts";
import { isAbort } from "../../base/task-group.ts";
import { loopTurn } from "../../base/virtual-clock.ts";
import { referenceTo, resources } from "../../client/index.ts";
import { scheduleWithExtenders } from "../extenders/schedule-with-extenders.ts";
import { failed, isRefusal } from "../framework/refusal.ts";
import { schedulePod } from "../framework/schedule-pod.ts";
import { VerdictCache } from "../framework/verdict-cache.ts";
import { podInfoOf } from "../state/pod-info.ts";
import { attemptGroup } from "../groups/attempt-group.ts";
import { groupCondition } from "../groups/group-condition.ts";
import { profileWithin } from "../groups/placements.ts";
import { bind, reserve, revert, unreserve } from "./binding.ts";
import { preempt } from "./preemption.ts";
import { unscheduledCondition } from "./pod-writes.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { TaskGroup } from "../../base/task-group.ts";
import type { Client, SeriesEventRecorder } from "../../client/index.ts";
import type { Extender } from "../extenders/extender.ts";
import type { Assigned, Decision, Unschedulable } from "../framework/decision.ts";
import type { Cycle, Reservation } from "../framework/plugin.ts";
import type { Outcome, SchedulingRequest } from "../framework/schedule-pod.ts";
import type { Profile } from "../framework/profile.ts";
import type { Refusal } from "../framework/refusal.ts";
import type { GroupDriver } from "../groups/attempt-group.ts";
import type { MemberOutcome } from "../groups/trial.ts";
import type { PreemptionGate } from "../plugins/preemption/preemption-gate.ts";
import type { QueueEntry } from "../queue/queue-entry.ts";
import type { AttemptOutcome, SchedulingQueue } from "../queue/scheduling-queue.ts";
import type { ClusterState } from "../state/cluster-state.ts";
import type { PodGroups, SchedulingGroup } from "../state/pod-groups.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { SchedulerMetrics } from "../server/scheduler-metrics.ts";
import type { DecisionLog } from "./decision-log.ts";
import type { PodWrites } from "./pod-writes.ts";

/**
 * Takes one pod after the other from the queue, decides, and carries the decision out: bindings are written in flight while the next pods
 * are decided. Driven by `run`. Invariant: a pod that was decided for a node is assumed there until the API confirms it, or exactly that
 * is undone.
 */
export class SchedulingLoop {
  readonly #parts: SchedulingLoopParts;
  #bindings = 0;
  #whenBound: (() => void) | undefined;
  readonly #caches = new Map<Profile, VerdictCache>();
  #startIndex = 0;

  constructor(parts: SchedulingLoopParts) {
    this.#parts = parts;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { queue, clock } = this.#parts;
    let turnStartedMs = clock.monotonicMs();
    while (!signal.aborted) {
      const entry = queue.pop();
      if (entry === undefined) {
        await queue.ready(signal);
        turnStartedMs = clock.monotonicMs();
        continue;
      }
      const asking = this.#attempt(entry);
      if (asking !== undefined) await asking;
      if (this.#bindings >= bindingLimit) await new Promise<void>((resolve) => (this.#whenBound = resolve));
      if (clock.monotonicMs() - turnStartedMs < turnMs) continue;
      await loopTurn();
      turnStartedMs = clock.monotonicMs();
    }
  }

  /** Answers a promise only when somebody outside has to be asked. */
  #attempt(entry: QueueEntry): Promise<void> | undefined {
    const { queue, state, profiles } = this.#parts;
    const { info } = entry;
    const { namespace, name, uid } = info;
    const profile = profiles.get(info.pod.spec?.schedulerName ?? "");
    invariant(profile !== undefined, "only pods of a known profile are queued");
    if (info.isTerminating || state.nodeOf(uid) !== undefined) {
      queue.done(uid);
      if (info.isTerminating) this.#recordFailure(info, `skip schedule deleting pod: ${namespace}/${name}`);
      return undefined;
    }
    const { podGroups } = this.#parts;
    const group = podGroups?.groupFor(info);
    if (group !== undefined) return this.#attemptGroup(entry, group, podGroups!);
    const request = this.#requestFor(info, profile);
    const asked = this.#interestedIn(info);
    if (asked.length > 0) return this.#attemptWithExtenders(entry, request, asked);
    this.#conclusion(entry, profile, schedulePod(request));
    return undefined;
  }

  #requestFor(pod: PodInfo, profile: Profile): SchedulingRequest {
    const { state, random } = this.#parts;
    return { snapshot: state, pod, profile, random, startIndex: this.#startIndex, cache: this.#cacheOf(profile) };
  }

  #interestedIn(pod: PodInfo): readonly Extender[] {
    const { extenders } = this.#parts;
    return extenders.length === 0 ? extenders : extenders.filter((extender) => extender.isInterested(pod));
  }

  /** Tries the pod and all of its group that wait, the more important first. */
  async #attemptGroup(first: QueueEntry, group: SchedulingGroup, podGroups: PodGroups): Promise<void> {
    const { queue, state, writes } = this.#parts;
    const members = Array.from(group.members.values()).filter(({ isTerminating, uid }) => !isTerminating && state.nodeOf(uid) === undefined);
    const entries = members.flatMap(({ uid }) => (uid === first.info.uid ? first : (queue.claim(uid) ?? [])));
    const outcome = await attemptGroup(
      entries.sort((left, right) => right.info.priority - left.info.priority),
      group,
      {
        state,
        groups: podGroups,
        decide: (entry, options) => this.#decideMember(entry, options),
        isOpen: (entry) => queue.entryOf(entry.info.uid) === entry && entry.place === "inFlight",
        bind: (entry, plan) => this.#startBinding(entry, { ...plan, extender: this.#interestedIn(entry.info).find(({ binds }) => binds) }),
        refuse: (entry, refusal, heldNode) => {
          if (heldNode !== undefined) state.nominate(entry.info, heldNode);
          this.#failWith(entry, refusal);
        },
        fail: (entry, decision) => this.#fail(entry, decision),
      },
    );
    const condition = groupCondition(group.group, outcome, writes.nowText());
    if (condition !== undefined) await writes.updateGroup(group.group, condition);
  }

  #decideMember(entry: QueueEntry, { placement, mayPreempt = false }: Parameters<GroupDriver["decide"]>[1]): ReturnType<GroupDriver["decide"]> {
    const { profiles, log, signal } = this.#parts;
    const profile = profiles.get(entry.info.pod.spec?.schedulerName ?? "")!;
    const plugins = mayPreempt ? profile.plugins : profile.plugins.filter(({ name }) => name !== "DefaultPreemption");
    const request = { ...this.#requestFor(entry.info, profile), profile: profileWithin({ ...profile, plugins }, placement) };
    const asked = this.#interestedIn(entry.info);
    const noted = (outcome: Outcome): MemberOutcome => {
      this.#note(entry, outcome.decision);
      return { ...outcome, profile };
    };
    return asked.length === 0 ? noted(schedulePod(request)) : scheduleWithExtenders(request, { extenders: asked, log, signal }).then(noted);
  }

  async #attemptWithExtenders(entry: QueueEntry, request: SchedulingRequest, extenders: readonly Extender[]): Promise<void> {
    const { queue, state, log, signal } = this.#parts;
    let outcome: Outcome;
    try {
      outcome = await scheduleWithExtenders(request, { extenders, log, signal });
    } catch (error) {
      if (isAbort(error, signal)) return;
      throw error;
    }
    // While they thought the pod may have gone, or the node.
    if (queue.entryOf(entry.info.uid) !== entry || entry.place !== "inFlight") return;
    const { decision } = outcome;
    if (decision.kind === "assigned" && state.node(decision.node.name) === undefined)
      return this.#failWith(entry, failed(`node ${JSON.stringify(decision.node.name)} not found`));
    this.#conclusion(
      entry,
      request.profile,
      outcome,
      extenders.find(({ binds }) => binds),
    );
  }

  #conclusion(entry: QueueEntry, profile: Profile, { decision, cycle }: Outcome, extender?: Extender): void {
    this.#note(entry, decision);
    if (decision.kind !== "assigned") return this.#fail(entry, decision);
    this.#assign(entry, decision, { cycle, profile, extender });
  }

  #note(entry: QueueEntry, decision: Decision): void {
    const { decisions, clock, metrics } = this.#parts;
    this.#startIndex = decision.nodes === 0 ? 0 : (this.#startIndex + decision.examined) % decision.nodes;
    decisions.add(decision, clock.nowMs());
    metrics.algorithmSeconds.observe((clock.monotonicMs() - entry.attemptStartedMs) / 1000);
  }

  #cacheOf(profile: Profile): VerdictCache {
    let cache = this.#caches.get(profile);
    if (cache === undefined) this.#caches.set(profile, (cache = new VerdictCache()));
    return cache;
  }

  #assign(entry: QueueEntry, decision: Assigned, { cycle, profile, extender }: Pick<BindingPlan, "cycle" | "profile" | "extender">): void {
    const reserved = reserve(cycle, profile, decision.node);
    if (isRefusal(reserved)) return this.#failWith(entry, reserved);
    this.#parts.state.assume(entry.info, decision.node.name);
    this.#startBinding(entry, { cycle, profile, decision, extender, reservations: reserved.reservations });
  }

  /** The pod is assumed on its node: the binding is written while others are decided. */
  #startBinding(entry: QueueEntry, plan: BindingPlan): void {
    const { state, queue } = this.#parts;
    const { info } = entry;
    state.withdrawNomination(info.uid);
    const mayWait = mayTakeLong(plan);
    this.#parts.tasks.start(`binding of ${info.namespace}/${info.name}`, () => (mayWait ? this.#bind(entry, plan) : this.#bindNow(entry, plan)));
    if (!mayWait) queue.done(info.uid);
  }

  /** A binding that waits for nothing but the API; only so many are under way at once. */
  async #bindNow(entry: QueueEntry, plan: BindingPlan): Promise<void> {
    this.#bindings += 1;
    try {
      await this.#bind(entry, plan);
    } finally {
      this.#bindings -= 1;
      this.#whenBound?.();
    }
  }

  async #bind(entry: QueueEntry, plan: BindingPlan): Promise<void> {
    const { state, queue, recorders, writes, clock, log, signal } = this.#parts;
    const { cycle, profile, decision, reservations, extender } = plan;
    const { info } = entry;
    const nodeName = decision.node.name;
    // Others shall know where the pod is going while it waits.
    const mayWait = mayTakeLong(plan);
    if (mayWait) await writes.updateStatus(info.pod, { nominatedNodeName: nodeName });
    let refusal: Refusal | undefined;
    try {
      const job = { cycle, profile, node: decision.node, reservations, extender, clock, signal, onBinding: () => queue.done(info.uid) };
      await (mayWait
        ? bind(job).then((answer) => (refusal = answer))
        : writes.bind(info.uid, async () => {
            refusal = await bind(job);
          }));
    } catch (error) {
      if (isAbort(error, signal)) return;
      throw error;
    }
    if (refusal === undefined) {
      this.#count(entry, profile.schedulerName, "scheduled");
      const note = `Successfully assigned ${info.namespace}/${info.name} to ${nodeName}`;
      recorders.get(profile.schedulerName)?.record(referenceTo(resources.pods, info.pod), { type: "Normal", reason: "Scheduled", action: "Binding", note });
      return;
    }
    await revert(reservations, log, signal);
    unreserve(reservations);
    const isStillAssumed = state.isAssumed(info.uid);
    state.forget(info.uid);
    // The room that the pod had taken is free again.
    queue.move({ resource: "AssignedPod", action: "Delete", old: info.pod });
    log.warn("A pod could not be bound", { pod: `${info.namespace}/${info.name}`, node: nodeName, reasons: refusal.reasons });
    if (isStillAssumed) this.#failWith(entry, refusal);
  }

  /** A refusal after the decision. */
  #failWith(entry: QueueEntry, { code, reasons, plugin }: Refusal): void {
    const named = new Set(plugin === undefined ? [] : [plugin]);
    const isError = code === "failed";
    const message = reasons.join(", ");
    this.#conclude(entry, { message, reason: isError ? "SchedulerError" : "Unschedulable" });
    this.#giveBack(entry, { rejectors: code === "pending" ? noNames : named, pendingPlugins: code === "pending" ? named : noNames, isError });
  }

  #fail(entry: QueueEntry, decision: Exclude<Decision, Assigned>): void {
    if (decision.kind === "failed") {
      this.#conclude(entry, { message: decision.message, reason: "SchedulerError" });
      return this.#giveBack(entry, { rejectors: noNames, pendingPlugins: noNames, isError: true });
    }
    const { message, postFilter, rejectors, pendingPlugins } = decision;
    this.#nominate(entry, decision);
    this.#conclude(entry, { message, reason: "Unschedulable", nominatedNodeName: postFilter?.nominatedNodeName });
    this.#giveBack(entry, { rejectors, pendingPlugins, isError: false });
    this.#preempt(entry, decision);
  }

  #nominate({ info }: QueueEntry, { postFilter }: Unschedulable): void {
    const { state } = this.#parts;
    const nodeName = postFilter?.nominatedNodeName;
    if (nodeName === undefined) return;
    if (nodeName === "") state.withdrawNomination(info.uid);
    else state.nominate(info, nodeName);
  }

  #preempt({ info }: QueueEntry, { postFilter }: Unschedulable): void {
    const { tasks, gate, writes, state, queue } = this.#parts;
    if (postFilter !== undefined) this.#parts.metrics.preemptions.add(1);
    const write = postFilter?.write;
    if (write !== undefined) tasks.start(`making room for ${info.namespace}/${info.name}`, (signal) => this.#attemptWrite(write, signal));
    if (postFilter?.nominatedNodeName === undefined || postFilter.victims === undefined) return;
    // All are leaving already: nothing is to be done.
    if (postFilter.victims.every(({ isTerminating }) => isTerminating)) return;
    for (const pod of postFilter.displaced ?? []) {
      if (pod.uid === info.uid) continue;
      state.withdrawNomination(pod.uid);
      writes.noteStatus(pod.pod, { nominatedNodeName: "" });
      queue.activate(pod.uid);
    }
    this.#parts.metrics.victims.observe(postFilter.victims.length);
    const plan = { pod: info, nodeName: postFilter.nominatedNodeName, victims: postFilter.victims };
    gate.begin(info.uid);
    tasks.start(`preemption for ${info.namespace}/${info.name}`, () => preempt(plan, this.#parts));
  }

  async #attemptWrite(write: (signal: AbortSignal) => Promise<unknown>, signal: AbortSignal): Promise<void> {
    try {
      await write(signal);
    } catch (error) {
      if (!isAbort(error, signal)) this.#parts.log.warn("A write to make room failed", { error });
    }
  }

  /** Tells the pod, by its condition and an event, why it was not scheduled. */
  #conclude(entry: QueueEntry, failure: { message: string; reason: "Unschedulable" | "SchedulerError"; nominatedNodeName?: string | undefined }): void {
    const { writes } = this.#parts;
    const { info } = entry;
    this.#count(entry, info.pod.spec?.schedulerName ?? "", failure.reason === "Unschedulable" ? "unschedulable" : "error");
    const { message, reason, nominatedNodeName } = failure;
    this.#recordFailure(info, message);
    const change = { condition: unscheduledCondition(info, reason, message, writes.nowText()), nominatedNodeName };
    writes.noteStatus(info.pod, change);
    // The next attempt shall see what is being written.
    entry.info = podInfoOf(writes.apply(info.pod, change));
  }

  #count(entry: QueueEntry, profile: string, result: "scheduled" | "unschedulable" | "error"): void {
    const { metrics, clock } = this.#parts;
    metrics.attempts.add(1, result, profile);
    metrics.attemptSeconds.observe((clock.monotonicMs() - entry.attemptStartedMs) / 1000, result, profile);
    if (result !== "scheduled") return;
    metrics.podAttempts.observe(entry.attempts);
    metrics.podSeconds.observe((clock.nowMs() - entry.startedAtMs) / 1000, String(Math.min(entry.attempts, 16)));
  }

  #recordFailure(info: PodInfo, note: string): void {
    const recorder = this.#parts.recorders.get(info.pod.spec?.schedulerName ?? "");
    recorder?.record(referenceTo(resources.pods, info.pod), { type: "Warning", reason: "FailedScheduling", action: "Scheduling", note });
  }

  #giveBack(entry: QueueEntry, outcome: AttemptOutcome): void {
    this.#parts.queue.giveBack(entry, outcome);
  }
}

export interface SchedulingLoopParts {
  readonly client: Client;
  readonly state: ClusterState;
  readonly queue: SchedulingQueue;
  readonly profiles: ReadonlyMap<string, Profile>;
  /** By scheduler name. */
  readonly recorders: ReadonlyMap<string, SeriesEventRecorder>;
  readonly writes: PodWrites;
  readonly gate: PreemptionGate;
  /** Where groups of pods are served. */
  readonly podGroups: PodGroups | undefined;
  readonly extenders: readonly Extender[];
  readonly decisions: DecisionLog;
  readonly metrics: SchedulerMetrics;
  readonly tasks: TaskGroup;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly signal: AbortSignal;
}

interface BindingPlan {
  readonly cycle: Cycle;
  readonly profile: Profile;
  readonly decision: Assigned;
  readonly reservations: readonly Reservation[];
  /** Binds the pod in place of the Bind plugins. */
  readonly extender: Extender | undefined;
}

/** Whether something is to be written, or waited for, before the binding. */
function mayTakeLong({ profile, reservations }: BindingPlan): boolean {
  return reservations.some(({ preBind }) => preBind !== undefined) || profile.plugins.some(({ permit }) => permit !== undefined);
}

/** Bindings under way at once. */
const bindingLimit = 256;
/** How long the loop may go on before it lets others run. */
const turnMs = 5;

const noNames: ReadonlySet<string> = new Set();
