import { deadline, sleep } from "../../base/clock.ts";
import { isAbort } from "../../base/task-group.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../apimachinery/status.ts";
import { resources } from "../resources.ts";
import { microTime } from "../events/series-event-recorder.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Lease, LeaseSpec } from "../../api/coordination-v1/types.ts";
import type { Client } from "../client.ts";

/**
 * Lets one of several processes lead, by holding a Lease (coordination.k8s.io/v1). A candidate trusts only its own clock: a lease counts
 * as held until it has not changed for its duration as this process saw it. A leader that could not renew for 10 s stops leading.
 */
export async function runLeading(options: LeaderElectionOptions, lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
  const election = new Election(options);
  await election.acquire(signal);
  options.onLeaderChange?.(options.identity);
  const leading = new AbortController();
  const held = AbortSignal.any([signal, leading.signal]);
  let hasLost = false;
  const holding = election.hold(held).then(
    () => {
      hasLost = true;
      leading.abort(new LeadershipLostError(options.name));
    },
    (error: unknown) => leading.abort(error),
  );
  try {
    await lead(held);
  } finally {
    leading.abort();
    await holding;
    if (!hasLost) await election.release();
  }
  if (hasLost && !signal.aborted) throw new LeadershipLostError(options.name);
}

/** The leader could not renew its lease in time; another may lead now. */
export class LeadershipLostError extends Error {
  override name = "LeadershipLostError";
  readonly reason = "LeadershipLost";
  constructor(leaseName: string) {
    super(`the lease ${leaseName} was lost`);
  }
}

/** Whose lease, where, and how long. Defaults as client-go's: 15 s, 10 s, 2 s. */
export interface LeaderElectionOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly namespace: string;
  /** The lease's name, such as `kube-scheduler`. */
  readonly name: string;
  /** Who we are, such as `host_uuid`. */
  readonly identity: string;
  readonly leaseMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryMs?: number;
  /** Hears of every leader seen, ourselves included. */
  readonly onLeaderChange?: (identity: string) => void;
}

/** What to do with the lease as it was read. */
export type ElectionStep =
  | { readonly kind: "create"; readonly spec: LeaseSpec }
  | { readonly kind: "update"; readonly spec: LeaseSpec }
  /** Somebody else holds it. */
  | { readonly kind: "wait"; readonly holder: string };

/** The candidate's next step. `unchangedMs` is how long this process has seen the lease as it is, `lease` undefined when there is none. */
export function planElection(
  lease: DeepReadonly<Lease> | undefined,
  self: { identity: string; leaseMs: number },
  nowMs: number,
  unchangedMs: number,
): ElectionStep {
  const mine = { holderIdentity: self.identity, leaseDurationSeconds: Math.max(1, Math.round(self.leaseMs / 1000)), renewTime: microTime(nowMs) };
  if (lease === undefined) return { kind: "create", spec: { ...mine, acquireTime: microTime(nowMs), leaseTransitions: 0 } };
  const spec = lease.spec ?? {};
  const holder = spec.holderIdentity ?? "";
  if (holder === self.identity) {
    return { kind: "update", spec: { ...mine, acquireTime: spec.acquireTime ?? microTime(nowMs), leaseTransitions: spec.leaseTransitions ?? 0 } };
  }
  if (holder !== "" && unchangedMs < (spec.leaseDurationSeconds ?? 0) * 1000) return { kind: "wait", holder };
  return { kind: "update", spec: { ...mine, acquireTime: microTime(nowMs), leaseTransitions: (spec.leaseTransitions ?? 0) + 1 } };
}

class Election {
  readonly #options: LeaderElectionOptions;
  readonly #leaseMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryMs: number;
  #lease: Lease | undefined;
  /** By the monotonic clock: a jump of the time of day neither ends a lease nor prolongs it. */
  #changedMs = 0;
  #leader = "";

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? 15_000;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#retryMs = options.retryMs ?? 2_000;
  }

  /** Resolves once we hold the lease. */
  async acquire(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    while (!(await this.#attempt(signal))) await sleep(clock, this.#retryMs * (1 + jitter * random.fraction()), signal);
  }

  /** Renews until it fails for the renewal deadline, then resolves; rejects when `signal` aborts. */
  async hold(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (let renewedMs = clock.monotonicMs(); ;) {
      await sleep(clock, this.#retryMs, signal);
      const limit = deadline(clock, renewedMs + this.#renewDeadlineMs - clock.monotonicMs(), signal);
      try {
        if (await this.#attempt(limit.signal)) renewedMs = clock.monotonicMs();
      } catch (error) {
        signal.throwIfAborted();
        if (!isAbort(error, limit.signal)) throw error;
      } finally {
        limit.cancel();
      }
      if (clock.monotonicMs() - renewedMs >= this.#renewDeadlineMs) return;
    }
  }

  /** Gives the lease up, so that the next candidate need not wait for it to run out. */
  async release(): Promise<void> {
    const { client, clock, identity, log } = this.#options;
    const lease = this.#lease;
    if (lease?.spec?.holderIdentity !== identity) return;
    const now = microTime(clock.nowMs());
    const spec = { leaseTransitions: lease.spec.leaseTransitions ?? 0, leaseDurationSeconds: 1, renewTime: now, acquireTime: now, holderIdentity: "" };
    const limit = deadline(clock, this.#renewDeadlineMs);
    try {
      await client.update(resources.leases, { ...lease, spec }, { signal: limit.signal });
    } catch (error) {
      log.debug("Could not release the lease", { lease: lease.metadata.name, error });
    } finally {
      limit.cancel();
    }
  }

  /** One try; true when we hold the lease afterwards. Throws only when `signal` aborts. */
  async #attempt(signal: AbortSignal): Promise<boolean> {
    const { client, clock, identity, log, namespace, name } = this.#options;
    try {
      const lease = await client.get(resources.leases, namespace, name, { signal }).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      this.#observe(lease);
      const step = planElection(lease, { identity, leaseMs: this.#leaseMs }, clock.nowMs(), clock.monotonicMs() - this.#changedMs);
      if (step.kind === "wait") return false;
      const written =
        step.kind === "create"
          ? await client.create(resources.leases, { metadata: { namespace, name }, spec: step.spec }, { signal })
          : await client.update(resources.leases, { ...lease!, spec: { ...lease!.spec, ...step.spec } }, { signal });
      this.#observe(written);
      return true;
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      if (!isConflict(error) && !isAlreadyExists(error)) log.warn("Could not acquire or renew a lease", { lease: name, error });
      return false;
    }
  }

  #observe(lease: Lease | undefined): void {
    if (lease?.metadata.resourceVersion === this.#lease?.metadata.resourceVersion) return;
    this.#lease = lease;
    this.#changedMs = this.#options.clock.monotonicMs();
    const leader = lease?.spec?.holderIdentity ?? "";
    if (leader !== "" && leader !== this.#leader && leader !== this.#options.identity) this.#options.onLeaderChange?.(leader);
    this.#leader = leader;
  }
}

/** Candidates spread their tries, so that they do not all come at once. */
const jitter = 1.2;
