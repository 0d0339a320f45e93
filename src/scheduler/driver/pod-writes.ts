import { isAbort } from "../../base/task-group.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { isNotFound } from "../../apimachinery/status.ts";
import { edited, resources } from "../../client/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { TaskGroup } from "../../base/task-group.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, PodCondition } from "../../api/core-v1/types.ts";
import type { Client } from "../../client/index.ts";
import type { PodGroup } from "../../api/scheduling-v1beta1/types.ts";
import type { Condition } from "../../api/meta-v1/types.ts";
import type { PodInfo } from "../state/pod-info.ts";

/**
 * Writes about pods, those about one pod in the order they were asked for: a condition that says "unschedulable" must not arrive after
 * the binding that came later. What is to be said of pods that wait yields to bindings: only so much of it is written at once, and what
 * still waits gives way to what came later about the same pod (KEP-5229). Invariants: `#tails` holds the pods with a write under way,
 * `#notes` those about which something waits to be said, each once.
 */
export class PodWrites {
  readonly #options: PodWritesOptions;
  readonly #tails = new Map<string, Promise<void>>();
  readonly #notes = new Map<string, Note>();
  #writers = 0;

  constructor(options: PodWritesOptions) {
    this.#options = options;
  }

  /** Binds the pod after all earlier writes about it have ended; what was not written yet is moot. Rejects with what `write` throws. */
  bind(uid: string, write: () => Promise<void>): Promise<void> {
    this.#notes.delete(uid);
    return this.#enqueue(uid, write);
  }

  #enqueue(uid: string, write: () => Promise<void>): Promise<void> {
    const before = this.#tails.get(uid);
    const result = before === undefined ? write() : before.then(write);
    const tail = result
      .catch(() => undefined)
      .finally(() => {
        if (this.#tails.get(uid) === tail) this.#tails.delete(uid);
      });
    this.#tails.set(uid, tail);
    return result;
  }

  /** As `updateStatus`, when there is room among those that are written. */
  noteStatus(pod: DeepReadonly<Pod>, change: StatusChange): void {
    const { uid = "" } = pod.metadata;
    this.#notes.set(uid, this.#withNote(pod, change));
    if (this.#writers >= noteLimit) return;
    this.#writers += 1;
    this.#options.tasks.start("writing pods' statuses", () => this.#writeNotes());
  }

  async #writeNotes(): Promise<void> {
    for (const { pod, change } of this.#notes.values()) await this.updateStatus(pod, change);
    this.#writers -= 1;
  }

  /** Together with what waits to be said about the pod. */
  #withNote(pod: DeepReadonly<Pod>, change: StatusChange): Note {
    const note = this.#notes.get(pod.metadata.uid ?? "");
    if (note === undefined) return { pod, change };
    const { condition = note.change.condition, nominatedNodeName = note.change.nominatedNodeName } = change;
    return { pod: note.pod, change: { condition, nominatedNodeName } };
  }

  /** Writes a condition, and a nomination unless it is undefined, if the pod does not have them yet. Failures are logged. */
  async updateStatus(pod: DeepReadonly<Pod>, change: StatusChange): Promise<void> {
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    const note = this.#withNote(pod, change);
    this.#notes.delete(uid);
    const status = patchOf(note.pod, note.change);
    if (status === undefined) return;
    const { client, log, signal } = this.#options;
    await this.#enqueue(uid, async () => {
      try {
        await client.patch(resources.pods, namespace, name, { type: "strategic", body: { metadata: { uid }, status }, subresource: "status", signal });
      } catch (error) {
        if (isAbort(error, signal) || isNotFound(error)) return;
        log.error("A pod's status could not be written", { pod: `${namespace}/${name}`, error });
      }
    });
  }

  /** The pod with the change made, as it will be once it is written. */
  apply(pod: DeepReadonly<Pod>, change: StatusChange): DeepReadonly<Pod> {
    if (patchOf(pod, change) === undefined) return pod;
    return edited<Pod>(pod, (draft) => {
      const status = (draft.status ??= {});
      if (change.nominatedNodeName !== undefined) status.nominatedNodeName = change.nominatedNodeName;
      const { condition } = change;
      if (condition === undefined) return;
      const known = status.conditions ?? [];
      const isThere = known.some(({ type }) => type === condition.type);
      status.conditions = isThere ? known.map((one) => (one.type === condition.type ? condition : one)) : [...known, condition];
    });
  }

  /** Writes a condition of a group of pods. Failures are logged. */
  async updateGroup(group: DeepReadonly<PodGroup>, condition: Condition): Promise<void> {
    const { namespace = "", name = "", uid = "" } = group.metadata;
    const { client, log, signal } = this.#options;
    await this.#enqueue(uid, async () => {
      try {
        const body = { metadata: { uid }, status: conditionPatch(group.status?.conditions, condition) };
        await client.patch(resources.podGroups, namespace, name, { type: "strategic", body, subresource: "status", signal });
      } catch (error) {
        if (isAbort(error, signal) || isNotFound(error)) return;
        log.error("A pod group's status could not be written", { podGroup: `${namespace}/${name}`, error });
      }
    });
  }

  nowText(): string {
    return formatTime(this.#options.clock.nowMs());
  }
}

export interface StatusChange {
  readonly condition?: PodCondition | undefined;
  /** `""` clears it. */
  readonly nominatedNodeName?: string | undefined;
}

/** What is to be said about a pod, as it was when the first of it was asked for. */
interface Note {
  readonly pod: DeepReadonly<Pod>;
  readonly change: StatusChange;
}

/** Notes written at once: enough to share commits, few enough that bindings do not wait behind them. */
const noteLimit = 32;

export interface PodWritesOptions {
  readonly client: Client;
  readonly tasks: TaskGroup;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The condition of a pod that could not be scheduled. */
export function unscheduledCondition({ pod }: PodInfo, reason: "Unschedulable" | "SchedulerError", message: string, nowText: string): PodCondition {
  const generation = pod.metadata.generation;
  const known = conditionOf(pod, "PodScheduled");
  const lastTransitionTime = known?.status === "False" && known.lastTransitionTime !== undefined ? known.lastTransitionTime : nowText;
  return { type: "PodScheduled", status: "False", reason, message, lastTransitionTime, ...(generation !== undefined && { observedGeneration: generation }) };
}

/** What of the change is new to the pod. */
function patchOf(pod: DeepReadonly<Pod>, { condition, nominatedNodeName }: StatusChange): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  if (condition !== undefined && !isSame(conditionOf(pod, condition.type), condition)) Object.assign(patch, conditionPatch(pod.status?.conditions, condition));
  if (nominatedNodeName !== undefined && nominatedNodeName !== (pod.status?.nominatedNodeName ?? ""))
    patch.nominatedNodeName = nominatedNodeName === "" ? null : nominatedNodeName;
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** New items of a strategic merge patch go to the front unless their order is given. */
function conditionPatch(known: readonly { readonly type: string }[] = [], condition: PodCondition | Condition): Record<string, unknown> {
  const types = new Set([...known.map(({ type }) => type), condition.type]);
  return { "$setElementOrder/conditions": Array.from(types, (type) => ({ type })), conditions: [condition] };
}

function conditionOf(pod: DeepReadonly<Pod>, type: string): DeepReadonly<PodCondition> | undefined {
  return pod.status?.conditions?.find((one) => one.type === type);
}

function isSame(known: DeepReadonly<PodCondition> | undefined, condition: PodCondition): boolean {
  return (
    known !== undefined &&
    known.status === condition.status &&
    known.reason === condition.reason &&
    known.message === condition.message &&
    known.observedGeneration === condition.observedGeneration
  );
}
