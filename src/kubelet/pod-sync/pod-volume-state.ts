/**
 * Whether a pod's volumes are set up, and when to try or renew them: after a failure in 0.5 s, doubled up to 2 min 2 s, or up to 10 s while
 * others are waited for: claims cannot be watched. Driven by the pod's worker.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { resolveVolumes } from "../volumes/claims.ts";
import type { Resolution } from "../volumes/claims.ts";
import { waitingMessage } from "../volumes/faults.ts";
import type { PodObjects } from "../volumes/object-source.ts";
import type { VolumeFault, VolumeSources } from "../volumes/pod-storage.ts";
import type { NodeContext } from "./node-context.ts";
import { podFacts } from "./containers/start-container.ts";

export interface VolumeEvent {
  readonly reason: string;
  readonly message: string;
}

export interface VolumeTurn {
  readonly pod: DeepReadonly<Pod>;
  readonly podIPs: readonly string[];
  wake(): void;
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

  /** Set while the node's status is waited for. */
  #stopFollowing: (() => void) | undefined;

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

  /** Returns what is to be told; `wake` is called when the next try need not wait. */
  async setUp({ pod, podIPs, wake }: VolumeTurn, signal: AbortSignal): Promise<readonly VolumeEvent[]> {
    const { certificates, client, clock, events, ownNode, storage, tokens } = this.#node;
    await this.#objects.synced(signal);
    this.#isStale = false;
    this.#waitingSinceMs ??= clock.nowMs();
    this.#resolution = await resolveVolumes(pod, client, signal);
    const sources: VolumeSources = {
      client,
      facts: podFacts(this.#node, podIPs),
      node: () => ownNode.current,
      followNode: () => ownNode.follow(),
      configMap: (name) => this.#objects.configMap(name),
      secret: (name) => this.#objects.secret(name),
      token: (request) => tokens.get(pod, request, signal),
      trustBundles: () => this.#objects.trustBundles(),
      certificate: (place, source) => certificates.get(pod, place, source, signal),
      tell: (regarding, event) => events.record(regarding, event),
    };
    const { faults, refreshAtMs } = await storage.setUp(pod, this.#resolution.volumes, sources, signal);
    signal.throwIfAborted();
    this.#faults = faults;
    this.#followAttachments(wake);
    this.#refreshAtMs = refreshAtMs;
    this.#isReady = faults.length + this.#resolution.faults.length === 0;
    if (this.#isReady) {
      this.#failures = 0;
      this.#hasBeenReady = true;
    } else {
      const isWaiting = this.#resolution.faults.length > 0 || faults.some(({ isUnattached }) => isUnattached === true);
      const longestMs = isWaiting ? maxWaitMs : maxRetryMs;
      this.#dueMs = clock.nowMs() + Math.min(longestMs, firstRetryMs * 2 ** this.#failures++);
    }
    return [...faults.flatMap(({ event }) => event ?? []), ...this.#claimEvents()];
  }

  /** What a pod hears that has waited too long; the wait begins anew. */
  takeOverdue(nowMs: number): readonly VolumeEvent[] {
    if (nowMs < this.overdueAtMs) return [];
    this.#waitingSinceMs = nowMs;
    return [this.#waitingEvent("context deadline exceeded")];
  }

  close(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
  }

  #followAttachments(wake: () => void): void {
    this.close();
    if (!this.#faults.some(({ isUnattached }) => isUnattached === true)) return;
    this.#stopFollowing = this.#node.ownNode.subscribe(() => {
      this.#dueMs = 0;
      wake();
    });
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
const maxWaitMs = 10_000;
/** The kubelet's podAttachAndMountTimeout. */
const patienceMs = 123_000;
