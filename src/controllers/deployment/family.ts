import { deepEqual } from "../../apimachinery/json.ts";
import { byAge } from "./sizes.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Deployment, ReplicaSet } from "../../api/apps-v1/types.ts";
import type { PodTemplateSpec } from "../../api/core-v1/types.ts";

/** A Deployment and its ReplicaSets, oldest first. */
export interface Family {
  readonly deployment: DeepReadonly<Deployment>;
  /** The one whose template is the Deployment's. */
  readonly newest: DeepReadonly<ReplicaSet> | undefined;
  readonly old: readonly DeepReadonly<ReplicaSet>[];
  /** The old ones and the newest. */
  readonly all: readonly DeepReadonly<ReplicaSet>[];
  /** The ReplicaSet of that name, whoever owns it, as the cache has it when it is asked. */
  readonly namesake: (name: string) => DeepReadonly<ReplicaSet> | undefined;
}

export const hashLabel = "pod-template-hash";

/** Of several ReplicaSets with the Deployment's template the oldest counts as newest, so that everyone chooses the same. */
export function familyOf(deployment: DeepReadonly<Deployment>, replicaSets: readonly DeepReadonly<ReplicaSet>[], namesake: Family["namesake"]): Family {
  const ordered = [...replicaSets].sort(byAge);
  const newest = ordered.find(({ spec }) => isSameTemplate(spec?.template, deployment.spec?.template));
  const old = ordered.filter((replicaSet) => replicaSet !== newest);
  return { deployment, newest, old, all: newest === undefined ? old : [...old, newest], namesake };
}

/** Equal but for the label that names the template. */
export function isSameTemplate(left: DeepReadonly<PodTemplateSpec> | undefined, right: DeepReadonly<PodTemplateSpec> | undefined): boolean {
  return deepEqual(withoutHash(left), withoutHash(right));
}

/** A template as people wrote it. */
export function withoutHash(template: DeepReadonly<PodTemplateSpec> | undefined): DeepReadonly<PodTemplateSpec> {
  const { [hashLabel]: _hash, ...labels } = template?.metadata?.labels ?? {};
  const { labels: _labels, creationTimestamp: _creationTimestamp, ...metadata } = template?.metadata ?? {};
  return { ...template, metadata: { ...metadata, ...(Object.keys(labels).length > 0 && { labels }) } };
}
