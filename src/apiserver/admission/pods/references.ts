/** What a pod refers to by name: secrets, config maps, claims. */
import type { Pod, PodSpec, Volume } from "../../../api/core-v1/types.ts";
import { visitContainers } from "./containers.ts";

const mirrorAnnotation = "kubernetes.io/config.mirror";

/** Whether the pod stands for one that a kubelet read from a file. */
export function isMirrorPod(pod: Pod): boolean {
  return pod.metadata.annotations?.[mirrorAnnotation] !== undefined;
}

/** Names of the secrets of the pod's own namespace that it uses, in any place; may repeat. */
export function secretNamesOf(spec: PodSpec): string[] {
  const names: (string | undefined)[] = (spec.imagePullSecrets ?? []).map(({ name }) => name);
  visitContainers(spec, ({ env, envFrom }) => {
    for (const { secretRef } of envFrom ?? []) names.push(secretRef?.name);
    for (const { valueFrom } of env ?? []) names.push(valueFrom?.secretKeyRef?.name);
  });
  for (const volume of spec.volumes ?? []) names.push(...volumeSecrets(volume));
  return names.filter((name): name is string => name !== undefined && name !== "");
}

/** Names of the config maps that the pod uses; may repeat. */
export function configMapNamesOf(spec: PodSpec): string[] {
  const names: (string | undefined)[] = [];
  visitContainers(spec, ({ env, envFrom }) => {
    for (const { configMapRef } of envFrom ?? []) names.push(configMapRef?.name);
    for (const { valueFrom } of env ?? []) names.push(valueFrom?.configMapKeyRef?.name);
  });
  for (const { configMap, projected } of spec.volumes ?? []) {
    names.push(configMap?.name, ...(projected?.sources ?? []).map((source) => source.configMap?.name));
  }
  return names.filter((name): name is string => name !== undefined && name !== "");
}

/** Names of the claims that the pod mounts, those of ephemeral volumes included. */
export function claimNamesOf(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName];
    return ephemeral === undefined ? [] : [`${pod.metadata.name}-${name}`];
  });
}

function volumeSecrets(volume: Volume): (string | undefined)[] {
  return [
    volume.secret?.secretName,
    volume.azureFile?.secretName,
    volume.cephfs?.secretRef?.name,
    volume.cinder?.secretRef?.name,
    volume.flexVolume?.secretRef?.name,
    ...(volume.projected?.sources ?? []).map((source) => source.secret?.name),
    volume.rbd?.secretRef?.name,
    volume.scaleIO?.secretRef?.name,
    volume.iscsi?.secretRef?.name,
    volume.storageos?.secretRef?.name,
    volume.csi?.nodePublishSecretRef?.name,
  ];
}
