/**
 * Keeps the node from running out: every 10 s it looks at what is used, tells the node's conditions, gives back what the node itself can
 * spare, and evicts one pod at a time where that is not enough. Driven by `run`; owns the eviction state.
 */
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ObjectReference, Pod } from "../../api/core-v1/types.ts";
import type { EventSink } from "../../client/index.ts";
import { podLabel } from "../pod-sync/runtime-names.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import type { NodeUsage, UsageSource } from "../stats/usage.ts";
import { storageEvictions } from "./local-storage.ts";
import { observe, isMet } from "./observations.ts";
import { calm, chooseVictim, planEviction } from "./plan.ts";
import type { Eviction, EvictionState, Reclaim } from "./plan.ts";
import { thresholdsOf } from "./thresholds.ts";
import type { PressureCondition, Threshold } from "./thresholds.ts";

export class EvictionManager {
  readonly #options: EvictionManagerOptions;
  readonly #thresholds: readonly Threshold[];
  #state: EvictionState = calm;

  constructor(options: EvictionManagerOptions) {
    this.#options = options;
    this.#thresholds = thresholdsOf(options.settings);
  }

  get conditions(): readonly PressureCondition[] {
    return this.#state.conditions;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#look(signal);
      } catch (error) {
        if (!signal.aborted) log.warn("Could not see to the node's resources", { error });
      }
      await sleep(clock, intervalMs, signal).catch(() => undefined);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { clock, settings, usage: source, onConditions } = this.#options;
    const usage = await source.node(signal);
    const before = this.#state.conditions;
    const { state, reclaim } = planEviction(this.#state, {
      thresholds: this.#thresholds,
      usage,
      nowMs: clock.nowMs(),
      transitionMs: settings.evictionPressureTransitionMs,
    });
    this.#state = state;
    if (before.join() !== state.conditions.join()) onConditions();
    if (await this.#evictOverLimit(usage, signal)) return;
    if (reclaim !== undefined) await this.#reclaim(reclaim, usage, signal);
  }

  /** Whether some pod was evicted for its own use of disk. */
  async #evictOverLimit({ isOneFilesystem }: NodeUsage, signal: AbortSignal): Promise<boolean> {
    const pods = this.#options.settings.localStorageCapacityIsolation ? this.#options.pods().filter(hasStorageLimit) : [];
    if (pods.length === 0) return false;
    const evictions = storageEvictions(pods, await this.#options.usage.pods(signal), { isOneFilesystem });
    await Promise.all(evictions.map((eviction) => this.#evict(eviction, signal)));
    return evictions.length > 0;
  }

  async #reclaim(reclaim: Reclaim, usage: NodeUsage, signal: AbortSignal): Promise<void> {
    const { events, node, log, settings } = this.#options;
    log.warn("Reclaims a resource of the node", { resource: reclaim.resource, signal: reclaim.signal });
    events.record(node(), { type: "Warning", reason: "EvictionThresholdMet", message: `Attempting to reclaim ${reclaim.resource}` });
    if (await this.#reclaimNodeLevel(reclaim, signal)) return;
    const pods = this.#options.pods();
    const podUsage = await this.#options.usage.pods(signal);
    const victim = chooseVictim(reclaim, {
      pods,
      podUsage,
      isOneFilesystem: usage.isOneFilesystem,
      maxGraceSeconds: settings.evictionMaxPodGracePeriodSeconds,
    });
    if (victim === undefined) log.warn("No pod may be evicted", { resource: reclaim.resource });
    else await this.#evict(victim, signal);
  }

  /** Whether dead containers and unused images were enough. */
  async #reclaimNodeLevel({ resource, threshold }: Reclaim, signal: AbortSignal): Promise<boolean> {
    const { usage, removeUnused } = this.#options;
    if (resource !== "ephemeral-storage" && resource !== "inodes") return false;
    await removeUnused(signal);
    return !isMet(threshold, observe(await usage.node(signal)), { withReclaim: true });
  }

  /** Resolves when nothing of the pod runs any more, or after a while. */
  async #evict(eviction: Eviction, signal: AbortSignal): Promise<void> {
    const { log, clock, evict } = this.#options;
    log.warn("Evicted a pod", { pod: podLabel(eviction.pod), message: eviction.message });
    const limit = new AbortController();
    await Promise.race([evict(eviction), sleep(clock, cleanupLimitMs, AbortSignal.any([signal, limit.signal])).catch(() => undefined)]);
    limit.abort();
  }
}

export interface EvictionManagerOptions {
  readonly settings: KubeletSettings;
  readonly usage: UsageSource;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventSink;
  node(): ObjectReference;
  /** Those that run. */
  pods(): readonly DeepReadonly<Pod>[];
  evict(eviction: Eviction): Promise<void>;
  /** Removes dead containers and images that nobody uses. */
  removeUnused(signal: AbortSignal): Promise<void>;
  /** The conditions have changed. */
  onConditions(): void;
}

const intervalMs = 10_000;
const cleanupLimitMs = 30_000;

function hasStorageLimit({ spec }: DeepReadonly<Pod>): boolean {
  const isLimited = (resources: { readonly limits?: Readonly<Record<string, unknown>> } | undefined) => resources?.limits?.["ephemeral-storage"] !== undefined;
  return (
    (spec?.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined) ||
    [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(({ resources }) => isLimited(resources)) ||
    isLimited(spec?.resources)
  );
}
