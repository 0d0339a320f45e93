import { quantityMilli } from "../../apimachinery/quantity.ts";
import { parseTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";

/** How many pods a measurement asks for (documentation page "Horizontal Pod Autoscaling", Algorithm details). All amounts are in thousandths. */
export function countForPods(sample: PodSample, nowMs: number): { replicas: number; averageMilli: number; utilization?: number } {
  const { target, current, tolerance } = sample;
  const groups = groupPods(sample, nowMs);
  const measured = new Map([...sample.amounts].filter(([name]) => groups.ready.has(name)));
  if (measured.size === 0) throw new Error("did not receive metrics for targeted pods (pods might be unready)");
  const share = (amounts: ReadonlyMap<string, number>) => usage(amounts, sample);
  const now = share(measured);
  const result = { averageMilli: now.averageMilli, ...(now.utilization !== undefined && { utilization: now.utilization }) };
  const countsUnready = groups.unready.size > 0 && now.ratio > 1;
  if (!countsUnready && groups.missing.size === 0) {
    return { ...result, replicas: isTolerated(now.ratio, tolerance) ? current : roundUp(now.ratio * measured.size) };
  }
  // What is not known must not make things worse: it is taken as idle on the way up, as busy on the way down.
  const full = (name: string) => ("percent" in target ? Math.floor((sample.requests?.get(name) ?? 0) * Math.max(1, target.percent / 100)) : target.milli);
  for (const name of groups.missing) if (now.ratio !== 1) measured.set(name, now.ratio < 1 ? full(name) : 0);
  if (countsUnready) for (const name of groups.unready) measured.set(name, 0);
  const { ratio } = share(measured);
  const hasTurned = (now.ratio < 1 && ratio > 1) || (now.ratio > 1 && ratio < 1);
  const replicas = roundUp(ratio * measured.size);
  const isContrary = (ratio < 1 && replicas > current) || (ratio > 1 && replicas < current);
  return { ...result, replicas: isTolerated(ratio, tolerance) || hasTurned || isContrary ? current : replicas };
}

export interface PodSample {
  readonly pods: readonly DeepReadonly<Pod>[];
  /** By pod. */
  readonly amounts: ReadonlyMap<string, number>;
  /** When each was measured, and over how long. */
  readonly times?: ReadonlyMap<string, { readonly atMs: number; readonly windowMs: number }>;
  /** By pod, when the target is a share of what is requested. */
  readonly requests?: ReadonlyMap<string, number>;
  readonly target: { readonly percent: number } | { readonly milli: number };
  readonly current: number;
  readonly tolerance: Tolerance;
  /** Whether processor time is measured, which a starting pod uses up for itself. */
  readonly isProcessorTime: boolean;
}
export interface Tolerance {
  readonly up: number;
  readonly down: number;
}

/** For a metric of something else than pods, whose value shall be `targetMilli`. */
export function countForValue(valueMilli: number, targetMilli: number, sizes: { current: number; ready: number; tolerance: Tolerance }): number {
  const ratio = valueMilli / targetMilli;
  if (sizes.current === 0) return roundUp(ratio);
  return isTolerated(ratio, sizes.tolerance) ? sizes.current : roundUp(ratio * sizes.ready);
}

/** For a metric of something else than pods, of which each pod shall have `targetMilli`. */
export function countForAverage(valueMilli: number, targetMilli: number, sizes: { current: number; tolerance: Tolerance }): number {
  const ratio = valueMilli / (targetMilli * sizes.current);
  return sizes.current > 0 && isTolerated(ratio, sizes.tolerance) ? sizes.current : roundUp(valueMilli / targetMilli);
}

/** What the containers of pods request, by pod. Throws when one requests nothing. */
export function requestsOf(pods: readonly DeepReadonly<Pod>[], resource: string, container?: string): ReadonlyMap<string, number> {
  const requests = new Map<string, number>();
  for (const { metadata, spec } of pods) {
    const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
    for (const { name, resources } of [...(spec?.containers ?? []), ...sidecars]) {
      if (container !== undefined && name !== container) continue;
      const request = resources?.requests?.[resource];
      if (request === undefined) throw new Error(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`);
      requests.set(metadata.name ?? "", (requests.get(metadata.name ?? "") ?? 0) + quantityMilli(request));
    }
  }
  return requests;
}

/** A processor hardly says anything about load in the first minutes of a pod. */
const initializationMs = 300_000;
const initialReadinessMs = 30_000;

interface PodGroups {
  readonly ready: Set<string>;
  readonly unready: Set<string>;
  readonly missing: Set<string>;
}

function groupPods(sample: PodSample, nowMs: number): PodGroups {
  const groups: PodGroups = { ready: new Set(), unready: new Set(), missing: new Set() };
  for (const pod of sample.pods) {
    const name = pod.metadata.name ?? "";
    if (pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === "Failed") continue;
    if (pod.status?.phase === "Pending") groups.unready.add(name);
    else if (!sample.amounts.has(name)) groups.missing.add(name);
    else if (sample.isProcessorTime && isStarting(pod, sample.times?.get(name), nowMs)) groups.unready.add(name);
    else groups.ready.add(name);
  }
  return groups;
}

function isStarting({ status }: DeepReadonly<Pod>, time: { atMs: number; windowMs: number } | undefined, nowMs: number): boolean {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || status?.startTime === undefined) return true;
  const startMs = parseTime(status.startTime);
  const changedMs = parseTime(ready.lastTransitionTime ?? status.startTime);
  if (startMs + initializationMs > nowMs) return ready.status === "False" || (time !== undefined && time.atMs < changedMs + time.windowMs);
  return ready.status === "False" && startMs + initialReadinessMs > changedMs;
}

function usage(amounts: ReadonlyMap<string, number>, { target, requests }: PodSample): { ratio: number; averageMilli: number; utilization?: number } {
  const names = [...amounts.keys()].filter((name) => "milli" in target || requests?.has(name) === true);
  if (names.length === 0) throw new Error("no metrics returned matched known pods");
  const total = names.reduce((sum, name) => sum + (amounts.get(name) ?? 0), 0);
  const averageMilli = Math.floor(total / names.length);
  if ("milli" in target) return { ratio: averageMilli / target.milli, averageMilli };
  const requested = names.reduce((sum, name) => sum + (requests?.get(name) ?? 0), 0);
  const utilization = Math.floor((total * 100) / requested);
  return { ratio: utilization / target.percent, averageMilli, utilization };
}

function isTolerated(ratio: number, { up, down }: Tolerance): boolean {
  return ratio <= 1 + up + rounding && ratio >= 1 - down - rounding;
}

/** Floating point must not turn 3.0000000001 into 4. */
const rounding = 1e-9;

function roundUp(count: number): number {
  return Math.ceil(count - rounding);
}
