import { isAbort } from "../../base/task-group.ts";
import { sleep } from "../../base/clock.ts";
import { isRefusal } from "../framework/refusal.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Extender } from "../extenders/extender.ts";
import type { NodeInfo } from "../state/node-info.ts";
import type { Cycle, PermitWait, Reservation } from "../framework/plugin.ts";
import type { Profile } from "../framework/profile.ts";
import type { Refusal } from "../framework/refusal.ts";

/** Claims what the pod needs on the node with every Reserve plugin; a refusal gives back what was claimed before it. */
export function reserve(cycle: Cycle, profile: Profile, node: NodeInfo): Reserved | Refusal {
  const reservations: Reservation[] = [];
  for (const plugin of profile.plugins) {
    const answer = plugin.reserve?.(cycle, node);
    if (answer === undefined) continue;
    if (!isRefusal(answer)) {
      reservations.push(Object.assign(answer, { plugin: plugin.name }));
      continue;
    }
    unreserve(reservations);
    return { ...answer, plugin: plugin.name };
  }
  return { reservations };
}

export interface Reserved {
  readonly reservations: readonly Reservation[];
}

export function unreserve(reservations: readonly Reservation[]): void {
  for (const reservation of reservations.toReversed()) reservation.unreserve();
}

/** Takes back what was written for a pod that is not bound after all; failures are logged. */
export async function revert(reservations: readonly Reservation[], log: Log, signal: AbortSignal): Promise<void> {
  for (const reservation of reservations.toReversed()) {
    try {
      await reservation.revert?.(signal);
    } catch (error) {
      if (isAbort(error, signal)) return;
      log.warn("What was written before a binding that failed could not be taken back", { error });
    }
  }
}

/** Permit, PreBind, Bind. A refusal, or an error as `failed`, means that the pod is not bound. */
export async function bind(job: BindingJob): Promise<Refusal | undefined> {
  const { cycle, profile, node, signal } = job;
  try {
    for (const plugin of profile.plugins) {
      const answer = plugin.permit?.(cycle, node);
      const refusal = answer === undefined || isRefusal(answer) ? answer : await permitted(answer, job);
      if (refusal !== undefined) return { ...refusal, plugin: plugin.name };
    }
    for (const reservation of job.reservations) {
      const refusal = await reservation.preBind?.(signal);
      if (refusal !== undefined) return refusal;
    }
    job.onBinding();
    await (job.extender?.bind(cycle.pod, node.name, signal) ?? firstBinder(job));
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    return { code: "failed", reasons: [error instanceof Error ? error.message : String(error)], plugin: "DefaultBinder" };
  }
  for (const plugin of profile.plugins) plugin.postBind?.(cycle, node.name);
  return undefined;
}

async function firstBinder({ cycle, profile, node, signal }: BindingJob): Promise<void> {
  for (const plugin of profile.plugins) {
    const bound = plugin.bind?.(cycle, node.name, signal);
    if (bound !== undefined) return bound;
  }
}

export interface BindingJob {
  readonly cycle: Cycle;
  readonly profile: Profile;
  readonly node: NodeInfo;
  readonly reservations: readonly Reservation[];
  /** Binds in place of the Bind plugins. */
  readonly extender?: Extender | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called when nothing but the binding itself is left. */
  readonly onBinding: () => void;
}

/** Waits until the pod may go on, or its time is up. */
async function permitted({ allowed, waitMs }: PermitWait, { clock, signal }: BindingJob): Promise<Refusal | undefined> {
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const late = sleep(clock, waitMs, both).then((): Refusal => ({ code: "unschedulable", reasons: ["timed out waiting on permit"] }));
  try {
    return await Promise.race([allowed(both), late]);
  } finally {
    stop.abort();
    late.catch(() => undefined);
  }
}
