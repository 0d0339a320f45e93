/**
 * Whether a pod's volumes are set up, and when to try or renew them: after a failure in 0.5 s, doubled up to 2 min 2 s, or up to 10 s while
 * claims are waited for, which cannot be watched. Driven by the pod's worker.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { resolveVolumes } from "../volumes/claims.ts";
import type { Resolution } from "../volumes/claims.ts";
import { waitingMessage } from "../volumes/faults.ts";
import type { PodObjects } from "../volumes/object-source.ts";
import type { VolumeFault } from "../volumes/pod-storage.ts";
import type { NodeContext } from "./node-context.ts";
import { podFacts } from "./start-container.ts";

export interface VolumeEvent {
  readonly reason: string;
  readonly message: string;
}

export class PodVolumes {
  readonly #node: NodeContext;
  readonly #objects: PodObjects;
  #isReady = false;
  #hasBeenReady = false;
  #isStale = false;
  #failures = 0;
  #dueMs = 0;
  #refreshAtMs: number | undefined;
  /** Of the wait that the pod will hear of next. */
  #waitingSinceMs: number | undefined;
  #resolution: Resolution = { volumes: [], faults: [] };
  #faults: readonly VolumeFault[] = [];

  constructor(node: NodeContext, objects: PodObjects) {
    this.#node = node;
    this.#objects = objects;
  }

  get hasBeenReady(): boolean {
    return this.#hasBeenReady;
  }

  /** When the next try may be made. */
  get dueMs(): number {
    return this.#dueMs;
  }

  get refreshAtMs(): number | undefined {
    return this.#refreshAtMs;
  }

  /** When the pod is to hear that it waits; infinite when it does not. */
  get overdueAtMs(): number {
    return this.#waitingSinceMs === undefined || this.#hasBeenReady ? Number.POSITIVE_INFINITY : this.#waitingSinceMs + patienceMs;
  }

  isReady(nowMs: number): boolean {
    return this.#isReady && !this.#isStale && (this.#refreshAtMs === undefined || nowMs < this.#refreshAtMs);
  }

  /** Something they are made of has changed: look again, at once. */
  invalidate(): void {
    this.#isStale = true;
    this.#dueMs = 0;
  }

  /** Returns what is to be told. */
  async setUp(pod: DeepReadonly<Pod>, podIPs: readonly string[], signal: AbortSignal): Promise<readonly VolumeEvent[]> {
    const { client, clock, node, storage, tokens } = this.#node;
    await this.#objects.synced(signal);
    this.#isStale = false;
    this.#waitingSinceMs ??= clock.nowMs();
    this.#resolution = await resolveVolumes(pod, client, signal);
    const sources = {
      facts: podFacts(this.#node, podIPs),
      node: node(),
      configMap: (name: string) => this.#objects.configMap(name),
      secret: (name: string) => this.#objects.secret(name),
      token: (request: Parameters<typeof tokens.get>[1]) => tokens.get(pod, request, signal),
    };
    const { faults, refreshAtMs } = await storage.setUp(pod, this.#resolution.volumes, sources, signal);
    signal.throwIfAborted();
    this.#faults = faults;
    this.#refreshAtMs = refreshAtMs;
    this.#isReady = faults.length + this.#resolution.faults.length === 0;
    if (this.#isReady) {
      this.#failures = 0;
      this.#hasBeenReady = true;
    } else {
      const longestMs = this.#resolution.faults.length > 0 ? maxClaimRetryMs : maxRetryMs;
      this.#dueMs = clock.nowMs() + Math.min(longestMs, firstRetryMs * 2 ** this.#failures++);
    }
    return [...faults.flatMap(({ event }) => event ?? []), ...this.#claimEvents()];
  }

  /** What a pod hears that has waited too long; the wait begins anew. */
  takeOverdue(nowMs: number): VolumeEvent | undefined {
    if (nowMs < this.overdueAtMs) return undefined;
    this.#waitingSinceMs = nowMs;
    return this.#waitingEvent("context deadline exceeded");
  }

  #claimEvents(): VolumeEvent[] {
    const { faults } = this.#resolution;
    if (faults.length === 0) return [];
    this.#waitingSinceMs = this.#node.clock.nowMs();
    return [this.#waitingEvent(faults.map(({ message }) => message).join("; "))];
  }

  #waitingEvent(why: string): VolumeEvent {
    const unprocessed = this.#resolution.faults.map(({ volume }) => volume);
    const unattached = this.#faults.filter(({ isUnattached }) => isUnattached === true).map(({ volume }) => volume);
    const unmounted = [...unprocessed, ...this.#faults.map(({ volume }) => volume)];
    return { reason: "FailedMount", message: waitingMessage({ unmounted, unattached, unprocessed }, why) };
  }
}

const firstRetryMs = 500;
const maxRetryMs = 122_000;
const maxClaimRetryMs = 10_000;
/** The kubelet's podAttachAndMountTimeout. */
const patienceMs = 123_000;
