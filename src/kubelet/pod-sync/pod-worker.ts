/**
 * Carries one pod through its life. Driven by `update`/`remove` (the API), `wake` (runtime events, probes, objects, timers) and `run`. Each
 * turn reads the runtime, publishes the status, and starts at most one piece of work; the end of that work wakes it again.
 *
 * Stages, each entered from the one before and never left backwards:
 * - new: nothing done yet; admission comes first
 * - rejected: the node did not take it; only its deletion is awaited
 * - active: `planPod` says what to do
 * - stopping: deleted, past its deadline, or done: containers and sandbox are being stopped
 * - stopped: nothing runs; what the pod used is given back
 * - finished: gone from API and runtime
 */
import { referenceTo, resources } from "../../client/index.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ContainerStateWaiting, Pod, PodStatus } from "../../api/core-v1/types.ts";
import { sleep } from "../../base/clock.ts";
import { isAbort } from "../../base/task-group.ts";
import { Prober } from "../probes/prober.ts";
import { inheritedHealth } from "../probes/inherited-health.ts";
import type { AssumedHealth } from "../probes/prober.ts";
import { podStatus, rejectedStatus } from "../status/pod-status.ts";
import type { Verdict } from "../status/pod-status.ts";
import { StatusWriter } from "../status/status-writer.ts";
import type { PodObjects } from "../volumes/object-source.ts";
import { ContainerStarts } from "./containers/container-starts.ts";
import { readLastWords } from "./containers/last-words.ts";
import { deadlineMs, deadlineVerdict } from "./deadline.ts";
import { deletePodObject } from "./delete-object.ts";
import type { NodeContext, Rejection } from "./node-context.ts";
import { planPod } from "./plan.ts";
import { instancesTooMany, PodActions, podAddresses } from "./pod-actions.ts";
import type { ContainerStep, PodPlan } from "./plan.ts";
import { emptyPodRuntime, isRunning, readPodRuntime } from "./pod-runtime.ts";
import type { PodRuntime, RuntimeContainer } from "./pod-runtime.ts";
import { PodDevices } from "./pod-devices.ts";
import { PodResize } from "./pod-resize.ts";
import { PodVolumes } from "./pod-volume-state.ts";
import { containersOf, podLabel } from "./runtime-names.ts";
import type { SpecContainer } from "./runtime-names.ts";
import { logDirectory } from "./sandbox-config.ts";
import { WakeTimers } from "./wake-timers.ts";

type Stage = "new" | "rejected" | "active" | "stopping" | "stopped" | "finished";

export class PodWorker {
  readonly uid: string;
  readonly #node: NodeContext;
  readonly #ended = new AbortController();
  readonly #writer: StatusWriter;
  readonly #objects: PodObjects;
  readonly #volumes: PodVolumes;
  readonly #prober: Prober;
  readonly #starts: ContainerStarts;
  readonly #actions: PodActions;
  readonly #resize: PodResize;
  readonly #devices: PodDevices;
  readonly #timers: WakeTimers;
  /** What an earlier kubelet told of containers, by their ids. */
  readonly #inherited: ReadonlyMap<string, AssumedHealth>;
  #stage: Stage = "new";
  #rejection: Rejection | undefined;
  #verdict: Verdict | undefined;
  #isRemoved = false;
  #isFinal = false;
  #isObjectGone = false;
  /** What the status tells of: a sandbox half made is not told of, even when the writer comes to it late. */
  #toldRuntime: PodRuntime = emptyPodRuntime;
  #isMakingSandbox = false;
  #stoppingGraceSeconds: number | undefined;
  /** Set when the kubelet ends the pod in less time than the pod asks for. */
  #graceLimitSeconds = Number.POSITIVE_INFINITY;
  readonly #stopped = Promise.withResolvers<void>();
  #runtime: PodRuntime = emptyPodRuntime;
  #work: { abort: AbortController; done: Promise<void> } | undefined;
  readonly #listeners = new Set<() => void>();
  #retryMs = 0;
  #wakeUp: (() => void) | undefined;
  #isDirty = true;

  constructor(node: NodeContext, pod: DeepReadonly<Pod>) {
    this.#node = node;
    this.#timers = new WakeTimers(node.clock, () => this.wake());
    this.uid = pod.metadata.uid ?? "";
    this.#writer = new StatusWriter(
      { client: node.client, clock: node.clock, log: node.log, signal: this.#ended.signal, compute: (current) => this.#status(current) },
      pod,
    );
    this.#objects = node.objects.hold(pod, () => {
      this.#starts.retryNow();
      this.#volumes.invalidate();
      this.wake();
    });
    this.#volumes = new PodVolumes(node, this.#objects);
    this.#starts = new ContainerStarts(node.clock, node.startingUntoldMs);
    this.#inherited = inheritedHealth(pod);
    this.#devices = new PodDevices(node, (...event) => this.#tell(undefined, ...event));
    this.#resize = new PodResize({ node, tell: (...event) => this.#tell(undefined, ...event) }, pod);
    this.#actions = new PodActions({
      node,
      objects: this.#objects,
      starts: this.#starts,
      resize: this.#resize,
      now: () => ({ pod: this.grantedPod, runtime: this.#runtime }),
      tell: (...event) => this.#tell(...event),
      wake: () => this.wake(),
    });
    this.#prober = new Prober({
      ...node,
      signal: this.#ended.signal,
      onChange: () => this.wake(),
      onFailure: (spec, kind, message) => this.#tell(spec, "Warning", "Unhealthy", `${kind[0]!.toUpperCase()}${kind.slice(1)} probe failed: ${message}`),
    });
  }

  get pod(): DeepReadonly<Pod> {
    return this.#writer.pod;
  }

  /** The pod with what the node has granted it. */
  get grantedPod(): DeepReadonly<Pod> {
    return this.#resize.granted(this.pod);
  }

  /** Whether it waits for room to grow. */
  get waitsForRoom(): boolean {
    return this.#resize.isDeferred;
  }

  /** What the runtime had at the last turn. */
  get runtime(): PodRuntime {
    return this.#runtime;
  }

  get isFinished(): boolean {
    return this.#stage === "finished";
  }

  get isActive(): boolean {
    return this.#stage === "active" && !this.#mustStop();
  }

  /** Whether it counts against the node's resources. */
  get isHolding(): boolean {
    return this.#stage === "active" || this.#stage === "stopping";
  }

  update(pod: DeepReadonly<Pod>): void {
    const before = this.pod.metadata;
    this.#writer.observe(pod);
    // Labels and annotations may be told in files.
    if (!deepEqual([before.labels, before.annotations], [pod.metadata.labels, pod.metadata.annotations])) this.#volumes.invalidate();
    this.wake();
  }

  /** Of a static pod: what stands for it in the API now. */
  observeMirror(mirror: DeepReadonly<Pod> | undefined): void {
    this.#writer.observeMirror(mirror);
  }

  /** Its object is gone from the API. */
  remove(): void {
    this.#isRemoved = this.#isObjectGone = true;
    this.wake();
  }

  /** Ends the pod for a reason of the node's; resolves when nothing of it runs. */
  end(verdict: Verdict, graceSeconds: number): Promise<void> {
    this.#verdict ??= verdict;
    this.#graceLimitSeconds = Math.min(this.#graceLimitSeconds, graceSeconds);
    this.wake();
    return this.#stopped.promise;
  }

  wake(): void {
    this.#isDirty = true;
    this.#wakeUp?.();
  }

  /** Calls `listener` after each look at the runtime, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The waiting reason of a container that could not be started; undefined when it runs or has run. */
  waitingReason(containerName: string): ContainerStateWaiting | undefined {
    return this.#starts.waiting(containerName);
  }

  /** Returns when the pod is finished or `signal` aborts; containers then go on. */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = () => {
      this.#ended.abort(signal.reason);
      this.#wakeUp?.();
    };
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      while (!signal.aborted && this.#stage !== "finished") {
        if (!this.#isDirty) await new Promise<void>((resolve) => (this.#wakeUp = resolve));
        this.#wakeUp = undefined;
        this.#isDirty = false;
        if (!signal.aborted) await this.#turn();
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#ended.abort(signal.reason ?? new DOMException("the pod is finished", "AbortError"));
      this.#prober.stop();
      this.#timers.cancel();
      await this.#work?.done;
      this.#objects.release();
      this.#volumes.close();
      await this.#writer.settled();
      this.#stopped.resolve();
    }
  }

  async #turn(): Promise<void> {
    const { runtime, storage, log } = this.#node;
    const { signal } = this.#ended;
    try {
      if (this.#stage !== "rejected")
        this.#runtime = await readPodRuntime(runtime, this.uid, this.#runtime, (status) => readLastWords(storage, status), signal);
      this.#retryMs = 0;
      for (const listener of this.#listeners) listener();
      await this.#advance();
    } catch (error) {
      if (isAbort(error, signal)) return;
      this.#retryMs = Math.min(10_000, Math.max(100, this.#retryMs * 2));
      log.warn("Could not bring a pod forward", { pod: podLabel(this.pod), error });
      this.#timers.at("retry", this.#node.clock.nowMs() + this.#retryMs);
    }
  }

  async #advance(): Promise<void> {
    if (this.#stage === "new") this.#begin();
    if (this.#stage === "active") {
      this.#watchDeadline();
      this.#resize.advance(this.pod, this.#runtime);
    }
    this.#followProbes();
    if (this.#stage === "active" && this.#mustStop()) this.#stage = "stopping";
    this.#touch();
    if (this.#work !== undefined) {
      // What was begun for a running pod ends; so does a stop that has become more urgent.
      const isUrgent = this.#stoppingGraceSeconds === undefined || this.#graceSeconds() < this.#stoppingGraceSeconds;
      if (this.#stage === "stopping" && isUrgent) this.#work.abort.abort(new DOMException("the pod is being stopped", "AbortError"));
      return;
    }
    if (this.#stage === "active") await this.#act();
    else if (this.#stage === "stopping") this.#startWork((signal) => this.#stop(signal));
    else if (this.#stage === "stopped" || this.#stage === "rejected") this.#takeLeave();
  }

  #begin(): void {
    const isOver = ["Succeeded", "Failed"].includes(this.pod.status?.phase ?? "");
    const isKnown = this.#runtime.sandboxes.length > 0;
    if (isOver) return void (this.#stage = "stopping");
    const admission = this.#node.admit(this.pod);
    this.#stage = "active";
    // What ran before us goes on, however full the node is.
    if (isKnown) this.#startWork(async () => this.#node.cgroups?.ensure(this.grantedPod));
    if (isKnown || this.pod.metadata.deletionTimestamp !== undefined) return;
    if (admission.outcome === "refused") this.#reject(admission.rejection);
    if (admission.outcome === "preempts") this.#startWork(async () => this.#reject(await admission.makeRoom()));
  }

  #mustStop(): boolean {
    return this.#isRemoved || this.pod.metadata.deletionTimestamp !== undefined || this.#verdict !== undefined;
  }

  #watchDeadline(): void {
    const dueMs = deadlineMs(this.pod);
    if (dueMs === undefined || this.#verdict !== undefined) return;
    if (this.#node.clock.nowMs() < dueMs) return this.#timers.at("deadline", dueMs);
    this.#verdict = deadlineVerdict;
    this.#tell(undefined, "Normal", deadlineVerdict.reason, deadlineVerdict.message);
  }

  #followProbes(): void {
    const specs = containersOf(this.pod);
    const isStopping = this.#stage === "stopping";
    const isProbed = isStopping || this.#stage === "active";
    const running = isProbed ? this.#runtime.containers.filter((container) => isRunning(container) && !this.#actions.isKilling(container.id)) : [];
    this.#prober.follow(
      running.flatMap((container) => {
        const spec = specs.find(({ container: { name } }) => name === container.name);
        return spec === undefined ? [] : [{ spec, container, podIP: podAddresses(this.#node, this.pod, this.#runtime)[0] ?? "" }];
      }),
      { isStopping },
    );
  }

  /** One step of the plan; what must wait sets a timer. */
  async #act(): Promise<void> {
    const plan = this.#plan();
    if (plan.kind === "stop" || plan.kind === "idle") {
      this.#stage = "stopping";
      this.#followProbes();
      this.#startWork((signal) => this.#stop(signal));
      return;
    }
    const nowMs = this.#node.clock.nowMs();
    if (!this.#volumes.isReady(nowMs)) {
      for (const { reason, message } of this.#volumes.takeOverdue(nowMs)) this.#tell(undefined, "Warning", reason, message);
      const dueMs = this.#volumes.dueMs;
      if (dueMs > nowMs) this.#timers.at("volumes", Math.min(dueMs, this.#volumes.overdueAtMs));
      else this.#startWork((signal) => this.#setUpVolumes(signal));
      // A running pod does not wait for a token's renewal.
      if (!this.#volumes.hasBeenReady) return;
    }
    if (this.#work !== undefined) return;
    const devices = this.#devices.state(this.pod);
    if (devices === "due") this.#startWork(async (signal) => this.#reject(await this.#devices.prepare(this.pod, signal)));
    if (devices === "held") this.#timers.at("devices", this.#devices.heldUntilMs);
    if (devices !== "ready") return;
    if (this.#volumes.refreshAtMs !== undefined) this.#timers.at("volumes", this.#volumes.refreshAtMs);
    if (plan.kind === "sandbox") {
      if (this.#starts.isHeld("", nowMs)) return this.#timers.at("sandbox", this.#starts.heldUntilMs(""));
      this.#isMakingSandbox = true;
      this.#startWork((signal) => this.#actions.makeSandbox(plan.attempt, plan.isChanged, signal).finally(() => (this.#isMakingSandbox = false)));
      return;
    }
    const due = plan.steps.filter((step) => this.#isDue(step, nowMs));
    const old = instancesTooMany(this.#runtime);
    if (due.length > 0) this.#startWork((signal) => this.#actions.carryOut(plan.sandboxId, due, signal));
    else if (old.length > 0) this.#startWork((signal) => this.#actions.remove(old, signal));
  }

  #reject(rejection: Rejection | undefined): void {
    if (rejection === undefined) return;
    this.#rejection = rejection;
    this.#stage = "rejected";
    this.#tell(undefined, "Warning", rejection.reason, rejection.message);
  }

  #plan(): PodPlan {
    return planPod({
      pod: this.grantedPod,
      runtime: this.#runtime,
      nowMs: this.#node.clock.nowMs(),
      health: (container) => this.#health(container),
      backoff: (name) => this.#starts.backoff(name),
      resources: (container) => this.#resize.resourcesOf(container),
    });
  }

  #health(container: RuntimeContainer) {
    const spec = containersOf(this.pod).find(({ container: { name } }) => name === container.name);
    return spec === undefined ? { isStarted: true, isReady: false } : this.#prober.health(spec, container, this.#inherited.get(container.id));
  }

  /** Whether a step can be done now; a container that waits shows why. */
  #isDue(step: ContainerStep, nowMs: number): boolean {
    if (step.kind === "resize" && this.#resize.heldUntilMs > nowMs) {
      this.#timers.at("resize", this.#resize.heldUntilMs);
      return false;
    }
    if (step.kind !== "start") return true;
    const { name } = step.spec.container;
    if (step.dueMs > nowMs) {
      if (step.after !== undefined && this.#starts.holdBack(name, step.after.id, podLabel(this.pod))) {
        this.#tell(step.spec, "Warning", "BackOff", `Back-off restarting failed container ${name} in pod ${podLabel(this.pod)}`);
        this.#touch();
      }
      this.#timers.at(`start ${name}`, step.dueMs);
      return false;
    }
    if (!this.#starts.isHeld(name, nowMs)) return true;
    this.#timers.at(`start ${name}`, this.#starts.heldUntilMs(name));
    return false;
  }

  async #setUpVolumes(signal: AbortSignal): Promise<void> {
    const events = await this.#volumes.setUp({ pod: this.pod, podIPs: podAddresses(this.#node, this.pod, this.#runtime), wake: () => this.wake() }, signal);
    for (const { reason, message } of events) this.#tell(undefined, "Warning", reason, message);
  }

  async #stop(signal: AbortSignal): Promise<void> {
    this.#stoppingGraceSeconds = this.#graceSeconds();
    await this.#actions.stop(this.#stoppingGraceSeconds, signal);
    this.#stage = "stopped";
    this.#stopped.resolve();
  }

  /** The deletion's grace counts; at least a second. */
  #graceSeconds(): number {
    const { metadata, spec } = this.pod;
    return Math.max(1, Math.min(this.#graceLimitSeconds, metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30));
  }

  /** Nothing runs any more: gives back what the pod used, and takes a deleted pod out of the API and the runtime. */
  #takeLeave(): void {
    const isDeleted = this.#isRemoved || this.pod.metadata.deletionTimestamp !== undefined;
    if (this.#isFinal && !isDeleted) return;
    this.#startWork(async (signal) => {
      if (!this.#isFinal) {
        // The final statuses are told before the files they were read from are gone.
        await this.#writer.settled();
        await this.#node.storage.tearDown(this.uid);
        await this.#node.cgroups?.remove(this.pod);
        this.#node.tokens.forget(this.uid);
        this.#node.certificates.forget(this.uid);
        this.#node.allocations.remove(this.uid);
        await this.#devices.release(this.uid, signal);
        this.#isFinal = true;
        this.#node.resourcesFreed();
        this.#touch();
      }
      await this.#writer.settled();
      if (!isDeleted) return;
      if (!this.#isRemoved) {
        await deletePodObject(this.#node.client, this.pod, signal);
        this.#isObjectGone = true;
      }
      for (const { id } of this.#runtime.sandboxes) await this.#node.runtime.removePodSandbox(id, signal);
      await this.#node.storage.removeLogs(logDirectory(this.pod, this.#node.logRoot));
      this.#stage = "finished";
    });
  }

  #touch(): void {
    if (this.#isObjectGone || this.#isMakingSandbox || (this.isActive && this.#starts.isUntold(this.pod, this.#runtime, this.#timers))) return;
    this.#toldRuntime = this.#runtime;
    this.#writer.touch();
  }

  #startWork(work: (signal: AbortSignal) => Promise<void>): void {
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, this.#ended.signal]);
    const done = work(signal)
      .catch(async (error: unknown) => {
        if (isAbort(error, signal)) return;
        this.#node.log.warn("Work on a pod failed", { pod: podLabel(this.pod), error });
        await sleep(this.#node.clock, 1000, signal).catch(() => undefined);
      })
      .finally(() => {
        this.#work = undefined;
        this.wake();
      });
    this.#work = { abort, done };
  }

  #status(pod: DeepReadonly<Pod>): PodStatus {
    const { clock, nodeAddress, runtimeName } = this.#node;
    const nowMs = clock.nowMs();
    if (this.#rejection !== undefined) return rejectedStatus(pod, this.#rejection.reason, this.#rejection.message, nowMs);
    return podStatus({
      pod: this.#resize.granted(pod),
      runtime: this.#toldRuntime,
      resize: this.#resize.conditions(),
      deviceHealth: (name) => this.#node.managers.health(this.uid, name),
      resources: (container) => this.#resize.resourcesOf(container),
      runtimeName,
      nodeAddress,
      nowMs,
      isOver: this.#stage === "stopped" || this.#stage === "finished",
      isFinal: this.#isFinal,
      canMountReadOnlyRecursively: this.#node.canMountReadOnlyRecursively(),
      health: (container) => this.#health(container),
      waiting: (name) => this.#starts.waiting(name),
      // A deadline shows when everything has ended.
      ...(this.#verdict !== undefined && (this.#stage === "stopped" || this.#stage === "finished") && { verdict: this.#verdict }),
    });
  }

  #tell(spec: SpecContainer | undefined, type: "Normal" | "Warning", reason: string, message: string): void {
    const fieldPath = spec === undefined ? undefined : `spec.${spec.kind}{${spec.container.name}}`;
    this.#node.events.record(referenceTo(resources.pods, this.pod, fieldPath), { type, reason, message });
  }
}
