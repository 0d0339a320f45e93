/** Defaults of volumes, each for its source. */
import { roundResourceList } from "../resource-names.ts";
import type { DownwardAPIVolumeFile, PersistentVolumeClaimSpec, Volume } from "../types.ts";
import { defaultPullPolicy } from "./image-name.ts";

/** 0644, as JSON shows it. */
const readableMode = 0o644;

export function applyVolumeDefaults(volume: Volume): void {
  if (Object.keys(volume).every((key) => key === "name")) volume.emptyDir = {};
  if (volume.hostPath !== undefined) volume.hostPath.type ??= "";
  for (const source of [volume.secret, volume.configMap, volume.downwardAPI, volume.projected]) if (source !== undefined) source.defaultMode ??= readableMode;
  for (const file of volume.downwardAPI?.items ?? []) applyFileDefaults(file);
  for (const source of volume.projected?.sources ?? []) {
    if (source.serviceAccountToken !== undefined) source.serviceAccountToken.expirationSeconds ??= 3600;
    for (const file of source.downwardAPI?.items ?? []) applyFileDefaults(file);
  }
  applyBlockDefaults(volume);
  if (volume.image !== undefined) volume.image.pullPolicy ||= defaultPullPolicy(volume.image.reference ?? "");
  const template = volume.ephemeral?.volumeClaimTemplate;
  if (template !== undefined) {
    template.metadata ??= {};
    applyClaimSpecDefaults((template.spec ??= {}));
  }
}

export function applyClaimSpecDefaults(spec: PersistentVolumeClaimSpec): void {
  spec.volumeMode ??= "Filesystem";
  roundResourceList(spec.resources?.limits);
  roundResourceList(spec.resources?.requests);
}

/** Sources of PersistentVolumes too. */
export function applyBlockDefaults(volume: Pick<Volume, "azureDisk" | "iscsi" | "rbd" | "scaleIO">): void {
  const { azureDisk, iscsi, rbd, scaleIO } = volume;
  if (iscsi !== undefined) iscsi.iscsiInterface ||= "default";
  if (rbd !== undefined) {
    rbd.pool ||= "rbd";
    rbd.user ||= "admin";
    rbd.keyring ||= "/etc/ceph/keyring";
  }
  if (azureDisk !== undefined) {
    azureDisk.cachingMode ??= "ReadWrite";
    azureDisk.kind ??= "Shared";
    azureDisk.fsType ??= "ext4";
    azureDisk.readOnly ??= false;
  }
  if (scaleIO !== undefined) {
    scaleIO.storageMode ||= "ThinProvisioned";
    scaleIO.fsType ||= "xfs";
  }
}

function applyFileDefaults(file: DownwardAPIVolumeFile): void {
  if (file.fieldRef !== undefined) file.fieldRef.apiVersion ||= "v1";
  if (file.resourceFieldRef !== undefined) file.resourceFieldRef.divisor ??= "0";
}
