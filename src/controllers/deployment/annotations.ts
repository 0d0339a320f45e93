import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Deployment, ReplicaSet } from "../../api/apps-v1/types.ts";

/** What a Deployment writes down on itself and on its ReplicaSets (documentation page "Deployments", API reference "Well-Known Annotations"). */
export const revisionAnnotation = "deployment.kubernetes.io/revision";
export const desiredReplicasAnnotation = "deployment.kubernetes.io/desired-replicas";
export const rollbackAnnotation = "deprecated.deployment.rollback.to";
const revisionHistoryAnnotation = "deployment.kubernetes.io/revision-history";
const maxReplicasAnnotation = "deployment.kubernetes.io/max-replicas";

export type Annotations = Readonly<Record<string, string>>;

/** The revision noted on an object, 0 when there is none. */
export function revisionOf(object: { readonly metadata: { readonly annotations?: Annotations } }): number {
  const text = object.metadata.annotations?.[revisionAnnotation] ?? "";
  return /^[+-]?\d+$/.test(text) ? Number(text) : 0;
}

/** The revision that the newest ReplicaSet gets: one more than every other has. */
export function nextRevision(oldReplicaSets: readonly DeepReadonly<ReplicaSet>[]): number {
  return oldReplicaSets.reduce((highest, replicaSet) => Math.max(highest, revisionOf(replicaSet)), 0) + 1;
}

/** The annotations of the newest ReplicaSet: its own, those of the Deployment over them, its revision, and the revisions it had before. */
export function newestAnnotations(deployment: DeepReadonly<Deployment>, replicaSet: DeepReadonly<ReplicaSet> | undefined, revision: number): Annotations {
  const annotations: Record<string, string> = { ...replicaSet?.metadata.annotations };
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {})) if (!ownAnnotations.has(key)) annotations[key] = value;
  const oldText = annotations[revisionAnnotation];
  const oldRevision = replicaSet === undefined ? 0 : revisionOf(replicaSet);
  if (oldText !== undefined && oldText !== "" && !/^[+-]?\d+$/.test(oldText)) return annotations;
  if (oldRevision >= revision) return annotations;
  annotations[revisionAnnotation] = String(revision);
  if (replicaSet === undefined || oldText === undefined) return annotations;
  const history = (annotations[revisionHistoryAnnotation] ?? "").split(",").filter((item) => item !== "");
  history.push(oldText);
  while (history.join(",").length > historyLimit && history.length > 1) history.shift();
  annotations[revisionHistoryAnnotation] = history.join(",");
  return annotations;
}

/** The sizes a ReplicaSet is told of: what the Deployment wants, and the most it allows while it rolls. */
export function sizeAnnotations(desired: number, maximum: number): Annotations {
  return { [desiredReplicasAnnotation]: String(desired), [maxReplicasAnnotation]: String(maximum) };
}

export function desiredReplicasOf(replicaSet: DeepReadonly<ReplicaSet>): number | undefined {
  return numberAnnotation(replicaSet, desiredReplicasAnnotation);
}

export function maxReplicasOf(replicaSet: DeepReadonly<ReplicaSet>): number | undefined {
  return numberAnnotation(replicaSet, maxReplicasAnnotation);
}

/** The annotations of a Deployment that goes back to `replicaSet`: its own bookkeeping stays, everything else is the ReplicaSet's. */
export function rolledBackAnnotations(deployment: DeepReadonly<Deployment>, replicaSet: DeepReadonly<ReplicaSet>): Annotations {
  const kept = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => ownAnnotations.has(key));
  const taken = Object.entries(replicaSet.metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key));
  return Object.fromEntries([...kept, ...taken]);
}

/** Not copied between a Deployment and its ReplicaSets. */
const ownAnnotations: ReadonlySet<string> = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  rollbackAnnotation,
]);

/** Bytes of the revision history, so that no annotation grows without end. */
const historyLimit = 2000;

function numberAnnotation(replicaSet: DeepReadonly<ReplicaSet>, key: string): number | undefined {
  const text = replicaSet.metadata.annotations?.[key] ?? "";
  return /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}
