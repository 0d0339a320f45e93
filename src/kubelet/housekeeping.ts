/** What a kubelet looks after beside its pods: the node's scarce resources, images, logs. Started by `kubelet.ts`, one loop each. */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { TaskGroup } from "../base/task-group.ts";
import { referenceTo, resources } from "../client/index.ts";
import type { EventSink } from "../client/index.ts";
import type { KubeletSettings } from "./configuration/settings.ts";
import { EvictionManager } from "./eviction/eviction-manager.ts";
import type { Eviction } from "./eviction/plan.ts";
import type { PressureCondition } from "./eviction/thresholds.ts";
import { ImageCollector } from "./images/image-collector.ts";
import type { PullRecords } from "./images/pull-records.ts";
import { nodeReference } from "./node/node-reporter.ts";
import type { PodWorker } from "./pod-sync/pod-worker.ts";
import { isRunning } from "./pod-sync/pod-runtime.ts";
import type { ContainerRuntime } from "./runtime/cri.ts";
import { repeat } from "./repeat.ts";
import { rotateLog } from "./server/logs/log-rotation.ts";
import type { UsageSource } from "./stats/usage.ts";

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  readonly #eviction: EvictionManager;
  readonly #images: ImageCollector;

  constructor(options: HousekeepingOptions) {
    const { usage, nodeName } = options;
    const node = () => nodeReference(nodeName);
    this.#options = options;
    this.#images = new ImageCollector({
      ...options,
      node,
      filesystem: async (signal) => (await usage.node(signal)).imagefs,
      ...(options.pullRecords !== undefined && { forgetGone: (ids) => options.pullRecords!.prune(ids) }),
    });
    this.#eviction = new EvictionManager({
      ...options,
      node,
      pods: () => this.#active().map(({ pod }) => pod),
      evict: (eviction) => this.#evict(eviction),
      removeUnused: (signal) => (options.runtime.hasNetwork ? this.#images.removeUnused(signal) : Promise.resolve()),
    });
  }

  get pressure(): readonly PressureCondition[] {
    return this.#eviction.conditions;
  }

  start(group: TaskGroup): void {
    group.start("eviction", (signal) => this.#eviction.run(signal));
    // Simulated nodes have neither files nor a disk that fills.
    if (!this.#options.runtime.hasNetwork) return;
    group.start("image collection", (signal) => this.#images.run(signal));
    const { clock, log } = this.#options;
    group.start("log rotation", (signal) =>
      repeat({ clock, log, intervalMs: logIntervalMs, failure: "Could not rotate logs" }, (inner) => this.#rotateLogs(inner), signal),
    );
  }

  #active(): PodWorker[] {
    return [...this.#options.workers()].filter((worker) => worker.isActive);
  }

  async #evict({ pod, reason, message, annotations, isDisruption, graceSeconds }: Eviction): Promise<void> {
    const worker = this.#active().find(({ uid }) => uid === pod.metadata.uid);
    if (worker === undefined) return;
    this.#options.events.record(referenceTo(resources.pods, pod), { type: "Warning", reason, message, annotations });
    await worker.end({ phase: "Failed", reason, message, isDisruption }, graceSeconds);
  }

  async #rotateLogs(signal: AbortSignal): Promise<void> {
    const { clock, runtime, settings } = this.#options;
    const limits = { maxBytes: settings.containerLogMaxBytes, maxFiles: settings.containerLogMaxFiles };
    for (const worker of this.#options.workers()) {
      for (const { id, status } of worker.runtime.containers.filter(isRunning)) {
        if (await rotateLog(status.log_path, clock.nowMs(), limits)) await runtime.reopenContainerLog(id, signal);
      }
    }
  }
}

export interface HousekeepingOptions {
  readonly nodeName: string;
  readonly settings: KubeletSettings;
  readonly runtime: ContainerRuntime;
  readonly usage: UsageSource;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventSink;
  workers(): Iterable<PodWorker>;
  /** Of images: who may use which. */
  readonly pullRecords?: PullRecords;
  onConditions(): void;
}

const logIntervalMs = 10_000;
