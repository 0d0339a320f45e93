/**
 * Ends the node's pods in order when the machine goes down, and takes no more. Driven by `begin`, which the machine calls (an inhibitor of
 * systemd, a signal of power loss); nothing happens where the settings give no time for it.
 */
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { EventSink } from "../../client/index.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import type { Rejection } from "../pod-sync/node-context.ts";
import type { PodWorker } from "../pod-sync/pod-worker.ts";
import { nodeReference } from "./node-reporter.ts";
import { planShutdown, shutdownSteps } from "./shutdown-plan.ts";

export class NodeShutdown {
  readonly #options: NodeShutdownOptions;
  #isShuttingDown = false;

  constructor(options: NodeShutdownOptions) {
    this.#options = options;
  }

  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  refuse(): Rejection | undefined {
    return this.#isShuttingDown ? { reason: "NodeShutdown", message: "Pod was rejected as the node is shutting down." } : undefined;
  }

  /** Resolves when all pods have ended, or their time is over. */
  async begin(): Promise<void> {
    const { settings, events, nodeName, log, onChange } = this.#options;
    if (this.#isShuttingDown || shutdownSteps(settings).length === 0) return;
    this.#isShuttingDown = true;
    log.info("The node is shutting down", { node: nodeName });
    events.record(nodeReference(nodeName), { type: "Normal", reason: "Shutdown", message: "Shutdown manager detected shutdown event" });
    onChange();
    const workers = [...this.#options.workers()].filter(({ isActive }) => isActive);
    for (const { pods, seconds } of planShutdown(
      workers.map(({ pod }) => pod),
      settings,
    )) {
      await this.#end(
        workers.filter(({ pod }) => pods.includes(pod)),
        seconds,
      );
    }
  }

  async #end(workers: readonly PodWorker[], seconds: number): Promise<void> {
    const { clock } = this.#options;
    const limit = new AbortController();
    const verdict = {
      phase: "Failed",
      reason: "Terminated",
      message: "Pod was terminated in response to imminent node shutdown.",
      isDisruption: true,
    } as const;
    const ended = Promise.all(workers.map((worker) => worker.end(verdict, seconds)));
    await Promise.race([ended, sleep(clock, seconds * 1000, limit.signal).catch(() => undefined)]);
    limit.abort();
  }
}

export interface NodeShutdownOptions {
  readonly settings: KubeletSettings;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventSink;
  workers(): Iterable<PodWorker>;
  /** The node's condition is another. */
  onChange(): void;
}
