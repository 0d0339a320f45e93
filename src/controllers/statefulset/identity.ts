import { controllerReference, edited, resources } from "../../client/index.ts";
import { podFromTemplate } from "../pods/pod-from-template.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { OwnerReference } from "../../apimachinery/object.ts";
import type { StatefulSet } from "../../api/apps-v1/types.ts";
import type { PersistentVolumeClaim, Pod, PodTemplateSpec, Volume } from "../../api/core-v1/types.ts";

export const revisionLabel = "controller-revision-hash";
const podNameLabel = "statefulset.kubernetes.io/pod-name";
const podIndexLabel = "apps.kubernetes.io/pod-index";

/** The pod of an ordinal, from the template of one revision: its name, host name, labels and claims are its identity. */
export function ordinalPod(
  set: DeepReadonly<StatefulSet>,
  template: DeepReadonly<PodTemplateSpec>,
  { ordinal, revision }: { ordinal: number; revision: string },
): Pod {
  const pod = podFromTemplate(template, resources.statefulSets, set);
  pod.metadata.name = `${set.metadata.name}-${ordinal}`;
  const spec = pod.spec!;
  spec.hostname = pod.metadata.name;
  if (set.spec?.serviceName !== undefined && set.spec.serviceName !== "") spec.subdomain = set.spec.serviceName;
  return withIdentity(set, pod, ordinal, revision);
}

/** The pod with the labels and volumes that its identity asks for; the same object when nothing is missing. */
export function repairedPod(set: DeepReadonly<StatefulSet>, pod: DeepReadonly<Pod>): Pod | undefined {
  const ordinal = ordinalOf(set, pod);
  const labels = pod.metadata.labels ?? {};
  const claims = claimNames(set, ordinal);
  const hasClaims = [...claims].every(([volume, claimName]) =>
    pod.spec?.volumes?.some(({ name, persistentVolumeClaim }) => name === volume && persistentVolumeClaim?.claimName === claimName),
  );
  if (labels[podNameLabel] === pod.metadata.name && labels[podIndexLabel] === String(ordinal) && hasClaims) return undefined;
  return edited<Pod>(pod, (draft) => void withIdentity(set, draft, ordinal, undefined));
}

/** The number at the end of a pod's name; -1 for a name that is not of the set. */
export function ordinalOf(set: DeepReadonly<StatefulSet>, { metadata }: DeepReadonly<Pod>): number {
  const match = /^(.*)-(\d+)$/.exec(metadata.name ?? "");
  return match !== null && match[1] === set.metadata.name ? Number(match[2]) : -1;
}

/** The claims that a pod of this ordinal needs. */
export function ordinalClaims(set: DeepReadonly<StatefulSet>, ordinal: number): PersistentVolumeClaim[] {
  return (set.spec?.volumeClaimTemplates ?? []).map((template) =>
    edited<PersistentVolumeClaim>(template, (draft) => {
      draft.metadata = {
        ...draft.metadata,
        name: `${template.metadata.name}-${set.metadata.name}-${ordinal}`,
        namespace: set.metadata.namespace ?? "",
        labels: { ...draft.metadata.labels, ...set.spec?.selector?.matchLabels },
      };
      delete draft.status;
    }),
  );
}

/** The owners by which claims go with the set, or with the pod that is scaled away (KEP-1847). */
export function claimOwners(
  set: DeepReadonly<StatefulSet>,
  pod: DeepReadonly<Pod> | undefined,
  current: readonly DeepReadonly<OwnerReference>[],
): OwnerReference[] {
  const { whenDeleted = "Retain", whenScaled = "Retain" } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  const isOurs = ({ kind, name, apiVersion }: DeepReadonly<OwnerReference>) =>
    (kind === "StatefulSet" && apiVersion.startsWith("apps/") && name === set.metadata.name) ||
    (kind === "Pod" && apiVersion === "v1" && (name ?? "").startsWith(`${set.metadata.name}-`));
  const others = current.filter((owner) => !isOurs(owner)) as OwnerReference[];
  const isScaledAway = pod !== undefined && whenScaled === "Delete" && !isWanted(set, ordinalOf(set, pod));
  if (isScaledAway) return [...others, controllerReference(resources.pods, pod)];
  return whenDeleted === "Delete" ? [...others, controllerReference(resources.statefulSets, set)] : others;
}

export function isWanted({ spec }: DeepReadonly<StatefulSet>, ordinal: number): boolean {
  const start = spec?.ordinals?.start ?? 0;
  return ordinal >= start && ordinal < start + (spec?.replicas ?? 1);
}

function withIdentity(set: DeepReadonly<StatefulSet>, pod: Pod, ordinal: number, revision: string | undefined): Pod {
  pod.metadata.labels = {
    ...pod.metadata.labels,
    [podNameLabel]: pod.metadata.name ?? "",
    [podIndexLabel]: String(ordinal),
    ...(revision !== undefined && { [revisionLabel]: revision }),
  };
  const claims = claimNames(set, ordinal);
  const others = (pod.spec?.volumes ?? []).filter(({ name }) => !claims.has(name));
  const volumes: Volume[] = [...claims].map(([name, claimName]) => ({ name, persistentVolumeClaim: { claimName } }));
  if (volumes.length > 0) pod.spec!.volumes = [...volumes, ...others];
  return pod;
}

function claimNames(set: DeepReadonly<StatefulSet>, ordinal: number): Map<string, string> {
  const templates = set.spec?.volumeClaimTemplates ?? [];
  return new Map(templates.map(({ metadata }) => [metadata.name ?? "", `${metadata.name}-${set.metadata.name}-${ordinal}`]));
}
