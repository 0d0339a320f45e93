/**
 * The resizing of one pod: grants the spec's wishes where the node has room, follows them until the containers have what was granted, and
 * tells both (KEP 1287). Driven by the pod's worker, once a turn; owns the pod's allocation.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { formatTime } from "../../apimachinery/time.ts";
import type { Pod, PodCondition } from "../../api/core-v1/types.ts";
import { allocationOf, needsResize, resizeMessage, withAllocation } from "../resources/allocation.ts";
import type { Allocation, ResizeVerdict } from "../resources/allocation.ts";
import type { NodeContext } from "./node-context.ts";
import { hasExited, isRunning, latestOf } from "./pod-runtime.ts";
import type { PodRuntime, RuntimeContainer } from "./pod-runtime.ts";
import { shouldRestart } from "./containers/restart-rules.ts";
import { containersOf, resizableText } from "./runtime-names.ts";

export class PodResize {
  readonly #options: PodResizeOptions;
  readonly #uid: string;
  #allocation: Allocation;
  #actuated: Readonly<Record<string, string>>;
  #pending: Pending | undefined;
  #progress: Progress | undefined;
  /** Of a container that could not be resized. */
  #heldUntilMs = 0;

  constructor(options: PodResizeOptions, pod: DeepReadonly<Pod>) {
    const kept = options.node.allocations.get(pod.metadata.uid ?? "");
    this.#options = options;
    this.#uid = pod.metadata.uid ?? "";
    this.#allocation = kept?.allocation ?? allocationOf(pod);
    this.#actuated = kept?.actuated ?? {};
  }

  get isDeferred(): boolean {
    return this.#pending?.reason === "Deferred";
  }

  get heldUntilMs(): number {
    return this.#heldUntilMs;
  }

  /** The pod as it may run. */
  granted(pod: DeepReadonly<Pod>): DeepReadonly<Pod> {
    return withAllocation(pod, this.#allocation);
  }

  /** Requests and limits a container has now. */
  resourcesOf({ id, resources }: RuntimeContainer): string {
    return this.#actuated[id] ?? resources;
  }

  /** The container was given these amounts. */
  actuated(container: RuntimeContainer, text: string, runtime: PodRuntime): void {
    const known = runtime.containers.map(({ id }) => id);
    this.#actuated = Object.fromEntries([...Object.entries(this.#actuated).filter(([id]) => known.includes(id)), [container.id, text]]);
    this.#heldUntilMs = 0;
    this.#keep();
  }

  /** A container could not be given its amounts: it is tried again later. */
  failed(message: string, pod: DeepReadonly<Pod>): void {
    const { node, tell } = this.#options;
    this.#heldUntilMs = node.clock.nowMs() + retryMs;
    if (this.#progress === undefined || this.#progress.error === message) return;
    this.#progress = { ...this.#progress, error: message, sinceMs: node.clock.nowMs() };
    tell("Warning", "ResizeError", resizeMessage("Pod resize error", this.granted(pod), this.#progress.generation, message));
  }

  /** Looks at what is wanted, granted and given; true when the pod's status has something new to show. */
  advance(pod: DeepReadonly<Pod>, runtime: PodRuntime): boolean {
    const before = [this.#pending, this.#progress];
    this.#grant(pod);
    this.#finish(pod, runtime);
    return before[0] !== this.#pending || before[1] !== this.#progress;
  }

  /** In the order in which pods show them. */
  conditions(): PodCondition[] {
    const conditionOf = (type: string, { generation, sinceMs }: Pending | Progress, why: { reason?: string; message?: string }): PodCondition => ({
      type,
      ...(generation !== 0 && { observedGeneration: generation }),
      status: "True",
      lastProbeTime: formatTime(sinceMs),
      lastTransitionTime: formatTime(sinceMs),
      ...why,
    });
    return [
      ...(this.#pending === undefined
        ? []
        : [conditionOf("PodResizePending", this.#pending, { reason: this.#pending.reason, message: this.#pending.message })]),
      ...(this.#progress === undefined
        ? []
        : [conditionOf("PodResizeInProgress", this.#progress, this.#progress.error === undefined ? {} : { reason: "Error", message: this.#progress.error })]),
    ];
  }

  #grant(pod: DeepReadonly<Pod>): void {
    const { node, tell } = this.#options;
    const generation = pod.metadata.generation ?? 0;
    if (!needsResize(pod, this.#allocation)) {
      this.#pending = undefined;
      return;
    }
    const verdict: ResizeVerdict = node.judgeResize(pod, this.#allocation);
    const sinceMs = node.clock.nowMs();
    if (verdict.outcome === "granted") {
      this.#allocation = allocationOf(pod);
      this.#keep();
      this.#pending = undefined;
      this.#progress = { generation, sinceMs };
      this.#heldUntilMs = 0;
      tell("Normal", "ResizeStarted", resizeMessage("Pod resize started", pod, generation));
      return;
    }
    const { outcome: reason, message } = verdict;
    const old = this.#pending;
    if (old?.reason === reason && old.message === message && old.generation === generation) return;
    this.#pending = { generation, reason, message, sinceMs: old?.reason === reason ? old.sinceMs : sinceMs };
    tell("Warning", `Resize${reason}`, resizeMessage(`Pod resize ${reason}`, pod, generation, message));
  }

  /** What was granted is done when every running container has it. */
  #finish(pod: DeepReadonly<Pod>, runtime: PodRuntime): void {
    if (this.#progress === undefined) return;
    const granted = this.granted(pod);
    const isDone = containersOf(granted).every((spec) => {
      const current = latestOf(runtime, spec.container.name);
      // One that is being restarted, maybe for this, is awaited.
      if (current === undefined || !isRunning(current))
        return current === undefined || (hasExited(current) && !shouldRestart(granted, spec, current.status.exit_code));
      const text = this.resourcesOf(current);
      return text === "" || text === resizableText(spec.container);
    });
    if (!isDone) return;
    this.#options.tell("Normal", "ResizeCompleted", resizeMessage("Pod resize completed", granted, this.#progress.generation));
    this.#progress = undefined;
    // Room may have become free for others.
    this.#options.node.resourcesFreed();
  }

  #keep(): void {
    this.#options.node.allocations.set(this.#uid, { allocation: this.#allocation, actuated: this.#actuated });
  }
}

export interface PodResizeOptions {
  readonly node: NodeContext;
  /** An event about the pod. */
  tell(type: "Normal" | "Warning", reason: string, message: string): void;
}

interface Pending {
  readonly generation: number;
  readonly reason: "Deferred" | "Infeasible";
  readonly message: string;
  readonly sinceMs: number;
}

interface Progress {
  readonly generation: number;
  readonly sinceMs: number;
  readonly error?: string;
}

const retryMs = 10_000;
