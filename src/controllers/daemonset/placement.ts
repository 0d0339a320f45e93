import { scaledCount } from "../../apimachinery/int-or-string.ts";
import { isActive, isAvailable } from "../pods/pod-state.ts";
import { fitOf, isUpToDate } from "./daemon-pod.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { DaemonSet } from "../../api/apps-v1/types.ts";
import type { Node, Pod } from "../../api/core-v1/types.ts";

/** A node, whether it is for the set, and the set's pods on it, the oldest first. */
export interface Place {
  readonly node: DeepReadonly<Node>;
  readonly mayStart: boolean;
  readonly mayStay: boolean;
  readonly pods: readonly DeepReadonly<Pod>[];
}

/** What has to change: pods to take away, and nodes that need one. */
export interface Placement {
  readonly remove: readonly DeepReadonly<Pod>[];
  /** Finished pods among them. */
  readonly finished: readonly DeepReadonly<Pod>[];
  readonly create: readonly string[];
}

export interface RolloutContext {
  readonly set: DeepReadonly<DaemonSet>;
  readonly hash: string;
  readonly nowMs: number;
}

export function placeOf(set: DeepReadonly<DaemonSet>, node: DeepReadonly<Node>, pods: readonly DeepReadonly<Pod>[]): Place {
  const isBound = ({ spec }: DeepReadonly<Pod>) => (spec?.nodeName ?? "") !== "";
  const age = ({ metadata }: DeepReadonly<Pod>) => metadata.creationTimestamp ?? "";
  const ordered = [...pods].sort(
    (left, right) => Number(isBound(right)) - Number(isBound(left)) || (age(left) < age(right) ? -1 : age(left) > age(right) ? 1 : 0),
  );
  return { node, ...fitOf(set, node), pods: ordered };
}

/** One pod where there may be one, none elsewhere; finished pods make room for new ones. */
export function placePods(places: readonly Place[], context: RolloutContext): Placement {
  const remove: DeepReadonly<Pod>[] = [];
  const finished: DeepReadonly<Pod>[] = [];
  const create: string[] = [];
  for (const { node, mayStart, mayStay, pods } of places) {
    if (!mayStay) remove.push(...pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined));
    else if (pods.length === 0) {
      if (mayStart) create.push(node.metadata.name ?? "");
    } else {
      const ended = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && !isActive(pod));
      finished.push(...ended);
      remove.push(...ended, ...surplus(pods.filter(isActive), context));
    }
  }
  return { remove, finished, create };
}

/** The next step of a rolling update: within maxUnavailable old pods go, within maxSurge new ones come beside them. */
export function rollPods(places: readonly Place[], context: RolloutContext): Placement {
  const { maxSurge, maxUnavailable } = limitsOf(context.set, places.filter(({ mayStart }) => mayStart).length);
  return maxSurge > 0 ? rollBySurge(places, maxSurge, context) : rollByReplacing(places, maxUnavailable, context);
}

function rollByReplacing(places: readonly Place[], maxUnavailable: number, context: RolloutContext): Placement {
  const broken: DeepReadonly<Pod>[] = [];
  const candidates: DeepReadonly<Pod>[] = [];
  let unavailable = 0;
  for (const place of places) {
    const { fresh, old, isClear } = pairOf(place, context);
    if (!isClear || (fresh === undefined) === (old === undefined)) {
      if (place.mayStart || place.pods.length > 0) unavailable += 1;
    } else if (fresh !== undefined) {
      if (!isUp(fresh, context)) unavailable += 1;
    } else if (isUp(old!, context)) candidates.push(old!);
    else {
      if (old!.metadata.deletionTimestamp === undefined) broken.push(old!);
      unavailable += 1;
    }
  }
  return { remove: [...broken, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))], finished: [], create: [] };
}

function rollBySurge(places: readonly Place[], maxSurge: number, context: RolloutContext): Placement {
  const remove: DeepReadonly<Pod>[] = [];
  const free: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  for (const place of places) {
    const { fresh, old, isClear } = pairOf(place, context);
    if (!isClear || old === undefined) continue;
    if (fresh !== undefined) {
      surging += 1;
      if (isUp(fresh, context) && old.metadata.deletionTimestamp === undefined) remove.push(old);
    } else if (place.mayStart) (isUp(old, context) ? candidates : free).push(place.node.metadata.name ?? "");
  }
  return { remove, finished: [], create: [...free, ...candidates.slice(0, Math.max(0, maxSurge - surging))] };
}

/** The new and the old pod of a node; not clear when it has several of one kind. */
function pairOf({ pods }: Place, { set, hash }: RolloutContext) {
  const fresh = pods.filter((pod) => isUpToDate(pod, set, hash));
  const old = pods.filter((pod) => !isUpToDate(pod, set, hash));
  return { fresh: fresh[0], old: old[0], isClear: fresh.length < 2 && old.length < 2 };
}

function isUp(pod: DeepReadonly<Pod>, { set, nowMs }: RolloutContext): boolean {
  return pod.metadata.deletionTimestamp === undefined && isAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs);
}

/** Of several running pods of a node the oldest stays; with surge one old and one new may be there together. */
function surplus(running: readonly DeepReadonly<Pod>[], context: RolloutContext): DeepReadonly<Pod>[] {
  if (running.length < 2) return [];
  const { maxSurge } = limitsOf(context.set, 1);
  if (maxSurge === 0) return running.slice(1);
  const fresh = running.filter((pod) => isUpToDate(pod, context.set, context.hash));
  const old = running.filter((pod) => !isUpToDate(pod, context.set, context.hash));
  return [...fresh.slice(1), ...old.slice(1)];
}

function limitsOf({ spec }: DeepReadonly<DaemonSet>, desired: number): { maxSurge: number; maxUnavailable: number } {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {};
  if (type !== "RollingUpdate") return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = scaledCount(rollingUpdate?.maxSurge ?? 0, desired, "up") ?? 0;
  const maxUnavailable = scaledCount(rollingUpdate?.maxUnavailable ?? 1, desired, "up") ?? 1;
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}
