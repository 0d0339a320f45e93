/**
 * The workers of a node's pods, one per uid: started for what the API or the node itself has, woken by the runtime's events, found by the
 * server. Driven by the kubelet; the runtime's events and a relist every so often are its own loops.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { sleep } from "../../base/clock.ts";
import type { TaskGroup } from "../../base/task-group.ts";
import { repeat } from "../repeat.ts";
import type { PodSandbox } from "../runtime/cri-messages.ts";
import type { NodeContext } from "./node-context.ts";
import { PodWorker } from "./pod-worker.ts";
import { runtimeAnnotations, runtimeLabels } from "./runtime-names.ts";

export class PodWorkers implements Iterable<PodWorker> {
  readonly #node: Pick<NodeContext, "runtime" | "storage" | "owner" | "clock" | "log">;
  readonly #onFinished: () => void;
  readonly #workers = new Map<string, PodWorker>();

  /** `onFinished` is called when a worker's pod is gone. */
  constructor(node: Pick<NodeContext, "runtime" | "storage" | "owner" | "clock" | "log">, onFinished: () => void) {
    this.#node = node;
    this.#onFinished = onFinished;
  }

  [Symbol.iterator](): Iterator<PodWorker> {
    return this.#workers.values();
  }

  of(uid: string): PodWorker | undefined {
    return this.#workers.get(uid);
  }

  find(namespace: string, name: string): PodWorker | undefined {
    const found = [...this].filter(({ pod }) => pod.metadata.namespace === namespace && pod.metadata.name === name);
    // A successor may have its name already.
    return found.find(({ pod }) => pod.metadata.deletionTimestamp === undefined) ?? found[0];
  }

  start(pod: DeepReadonly<Pod>, node: NodeContext, group: TaskGroup): void {
    const uid = pod.metadata.uid ?? "";
    const worker = new PodWorker(node, pod);
    this.#workers.set(uid, worker);
    group.start(`pod ${pod.metadata.namespace}/${pod.metadata.name}`, async (signal) => {
      await worker.run(signal);
      if (!worker.isFinished) return;
      this.#workers.delete(uid);
      this.#onFinished();
    });
  }

  /** Lets pods that wait for room look again, the most important first. */
  wakeWaiting(): void {
    const waiting = [...this].filter((worker) => worker.waitsForRoom);
    for (const worker of waiting.toSorted((a, b) => (b.pod.spec?.priority ?? 0) - (a.pod.spec?.priority ?? 0))) worker.wake();
  }

  /** Sandboxes of ours whose pods were deleted while nobody looked. */
  async removeStrangers(known: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { runtime, log, storage, owner } = this.#node;
    const strangers = (await runtime.listPodSandbox(undefined, signal)).filter(
      ({ metadata, annotations }) => annotations[runtimeAnnotations.owner] === owner && !known.has(metadata.uid),
    );
    await Promise.all(
      strangers.map(async (sandbox) => {
        log.info("Removed a pod that is no longer in the API", { namespace: sandbox.metadata.namespace, pod: sandbox.metadata.name });
        await this.#stopStranger(sandbox, signal);
        await storage.tearDown(sandbox.metadata.uid);
      }),
    );
  }

  async #stopStranger(sandbox: PodSandbox, signal: AbortSignal): Promise<void> {
    const { runtime } = this.#node;
    const containers = await runtime.listContainers({ pod_sandbox_id: sandbox.id, state: { state: "CONTAINER_RUNNING" } }, signal);
    const graceSeconds = Number(sandbox.annotations[runtimeAnnotations.gracePeriod] ?? 30);
    await Promise.all(containers.map(({ id }) => runtime.stopContainer(id, graceSeconds, signal)));
    await runtime.stopPodSandbox(sandbox.id, signal);
    await runtime.removePodSandbox(sandbox.id, signal);
  }

  /** Wakes workers by the runtime's events until `signal` aborts. */
  async followRuntime(signal: AbortSignal): Promise<void> {
    const { runtime, log, clock } = this.#node;
    while (!signal.aborted) {
      try {
        for await (const event of runtime.events(signal)) {
          if (event.type === "RELIST") for (const worker of this) worker.wake();
          else this.#workerOf(event.pod_uid, event.pod_sandbox_id)?.wake();
        }
      } catch (error) {
        if (signal.aborted) return;
        log.warn("The runtime's events broke off", { error });
        await sleep(clock, 1000, signal).catch(() => undefined);
      }
    }
  }

  /** Every 10 s wakes the workers whose pods are not as they saw them. */
  relist(signal: AbortSignal): Promise<void> {
    return repeat({ ...this.#node, intervalMs: relistMs, failure: "Could not look after what runs" }, (inner) => this.#compare(inner), signal);
  }

  async #compare(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#node;
    const [sandboxes, containers] = await Promise.all([runtime.listPodSandbox(undefined, signal), runtime.listContainers(undefined, signal)]);
    const states = new Map<string, string[]>();
    for (const { id, state, metadata } of sandboxes) states.set(metadata.uid, [...(states.get(metadata.uid) ?? []), `${id} ${state}`]);
    for (const { id, state, labels } of containers) {
      const uid = labels[runtimeLabels.podUid] ?? "";
      states.set(uid, [...(states.get(uid) ?? []), `${id} ${state}`]);
    }
    for (const worker of this) {
      const seen = [
        ...worker.runtime.sandboxes.map(({ id, state }) => `${id} ${state}`),
        ...worker.runtime.containers.map(({ id, status }) => `${id} ${status.state}`),
      ];
      if (seen.toSorted().join() !== (states.get(worker.uid) ?? []).toSorted().join()) worker.wake();
    }
  }

  #workerOf(uid: string, sandboxId: string): PodWorker | undefined {
    if (uid !== "") return this.of(uid);
    return [...this].find(({ runtime }) => runtime.sandboxes.some(({ id }) => id === sandboxId));
  }
}

const relistMs = 10_000;
