/**
 * Runs the probes of one pod's containers and keeps their verdicts. Driven by the pod's worker: `follow` says which containers run now;
 * `onChange` is called when a verdict changes. Invariant: each probe of a running container has one timer or one try in progress.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Probe } from "../../api/core-v1/types.ts";
import type { Random } from "../../base/random.ts";
import { isAbort } from "../../base/task-group.ts";
import type { ContainerHealth } from "../pod-sync/plan.ts";
import type { RuntimeContainer } from "../pod-sync/pod-runtime.ts";
import { isSidecar } from "../pod-sync/runtime-names.ts";
import type { SpecContainer } from "../pod-sync/runtime-names.ts";
import { callProbe } from "./handler-calls.ts";
import type { HandlerTools } from "./handler-calls.ts";
import { addResult, firstProbeMs, initialProbeState, periodMs } from "./probe-state.ts";
import type { ProbeKind, ProbeOutcome, ProbeState } from "./probe-state.ts";

export class Prober {
  readonly #options: ProberOptions;
  readonly #workers = new Map<string, ProbeWorker>();

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  /** Starts probes of containers that run, and ends those of others. Whether a container lives no longer counts when the pod is stopping. */
  follow(
    running: readonly { readonly spec: SpecContainer; readonly container: RuntimeContainer; readonly podIP: string }[],
    { isStopping }: { isStopping: boolean },
  ): void {
    const wanted = new Set<string>();
    for (const { spec, container, podIP } of running) {
      // Plain init containers run to their end and are not probed.
      if (spec.kind === "ephemeralContainers" || (spec.kind === "initContainers" && !isSidecar(spec))) continue;
      for (const [kind, probe] of probesOf(spec)) {
        const key = `${container.id}/${kind}`;
        const hasStarted = this.#workers.get(key)?.state.verdict === true;
        if (isStopping && (kind === "liveness" || (kind === "startup" && !hasStarted))) continue;
        wanted.add(key);
        const known = this.#workers.get(key);
        if (known !== undefined) known.podIP = podIP;
        else this.#workers.set(key, new ProbeWorker(this, this.#options, { kind, probe, spec, container, podIP }));
      }
    }
    for (const [key, worker] of this.#workers) {
      if (wanted.has(key)) continue;
      worker.stop();
      this.#workers.delete(key);
    }
  }

  /** The state of a running container. `spec` decides which probes count; `assumed` counts until the first results are there. */
  health(spec: SpecContainer, container: RuntimeContainer, assumed?: AssumedHealth): ContainerHealth {
    const verdict = (kind: ProbeKind) => this.#workers.get(`${container.id}/${kind}`)?.state.verdict;
    const { startupProbe, readinessProbe } = spec.container;
    const isStarted = startupProbe === undefined || (verdict("startup") ?? assumed?.isStarted) === true;
    const isReady = isStarted && (readinessProbe === undefined || (verdict("readiness") ?? assumed?.isReady) === true);
    if (startupProbe !== undefined && verdict("startup") === false) return { isStarted: false, isReady: false, failed: "startup" };
    return verdict("liveness") === false ? { isStarted, isReady, failed: "liveness" } : { isStarted, isReady };
  }

  stop(): void {
    for (const worker of this.#workers.values()) worker.stop();
    this.#workers.clear();
  }

  /** Liveness and readiness wait for the startup probe. */
  isHeldBack(kind: ProbeKind, spec: SpecContainer, container: RuntimeContainer): boolean {
    return kind !== "startup" && spec.container.startupProbe !== undefined && this.#workers.get(`${container.id}/startup`)?.state.verdict !== true;
  }

  wakeHeldBack(containerId: string): void {
    for (const [key, worker] of this.#workers) if (key.startsWith(`${containerId}/`)) worker.wake();
  }
}

/** What an earlier kubelet said of a container that it left running. */
export interface AssumedHealth {
  readonly isStarted: boolean;
  readonly isReady: boolean;
}

export interface ProberOptions extends HandlerTools {
  readonly random: Random;
  readonly signal: AbortSignal;
  onChange(): void;
  /** A try failed: the event to tell. */
  onFailure(spec: SpecContainer, kind: ProbeKind, message: string): void;
}

interface ProbeTarget {
  readonly kind: ProbeKind;
  readonly probe: DeepReadonly<Probe>;
  readonly spec: SpecContainer;
  readonly container: RuntimeContainer;
  readonly podIP: string;
}

class ProbeWorker {
  state: ProbeState = initialProbeState;
  podIP: string;
  readonly #prober: Prober;
  readonly #options: ProberOptions;
  readonly #target: ProbeTarget;
  readonly #stopped = new AbortController();
  #cancelTimer: (() => void) | undefined;
  #isHeldBack = false;

  constructor(prober: Prober, options: ProberOptions, target: ProbeTarget) {
    this.#prober = prober;
    this.#options = options;
    this.#target = target;
    this.podIP = target.podIP;
    this.#schedule(Math.max(0, firstProbeMs(target.probe, target.container.status.started_at / 1e6) - options.clock.nowMs()));
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#stopped.abort(new DOMException("the probe was stopped", "AbortError"));
  }

  /** The startup probe has succeeded: begin now. */
  wake(): void {
    if (!this.#isHeldBack) return;
    this.#isHeldBack = false;
    const { probe, container } = this.#target;
    this.#schedule(Math.max(0, firstProbeMs(probe, container.status.started_at / 1e6) - this.#options.clock.nowMs()));
  }

  #schedule(delayMs: number): void {
    if (this.#stopped.signal.aborted) return;
    this.#cancelTimer = this.#options.clock.after(delayMs, () => {
      this.#cancelTimer = undefined;
      void this.#try();
    });
  }

  async #try(): Promise<void> {
    const { kind, probe, spec, container } = this.#target;
    if (this.#prober.isHeldBack(kind, spec, container)) {
      this.#isHeldBack = true;
      return;
    }
    const startedMs = this.#options.clock.monotonicMs();
    const signal = AbortSignal.any([this.#stopped.signal, this.#options.signal]);
    try {
      const outcome = await callProbe(probe, { container: spec.container, containerId: container.id, podIP: this.podIP }, this.#options, signal);
      if (!signal.aborted) this.#take(outcome);
    } catch (error) {
      if (!isAbort(error, signal)) throw error;
      return;
    }
    // A startup probe has done its work once it succeeds.
    if (kind === "startup" && this.state.verdict === true) return;
    this.#schedule(Math.max(0, periodMs(probe) - (this.#options.clock.monotonicMs() - startedMs)));
  }

  #take(outcome: ProbeOutcome): void {
    const { kind, probe, spec, container } = this.#target;
    const before = this.state.verdict;
    this.state = addResult(this.state, probe, outcome.isSuccess);
    if (!outcome.isSuccess) this.#options.onFailure(spec, kind, outcome.message);
    if (this.state.verdict === before) return;
    this.#options.onChange();
    if (kind === "startup" && this.state.verdict === true) this.#prober.wakeHeldBack(container.id);
  }
}

function probesOf({ container }: SpecContainer): [ProbeKind, DeepReadonly<Probe>][] {
  const { startupProbe, readinessProbe, livenessProbe } = container;
  const probes: [ProbeKind, DeepReadonly<Probe> | undefined][] = [
    ["startup", startupProbe],
    ["readiness", readinessProbe],
    ["liveness", livenessProbe],
  ];
  return probes.filter((entry): entry is [ProbeKind, DeepReadonly<Probe>] => entry[1] !== undefined);
}
