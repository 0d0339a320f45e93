/** Rules of volume mounts and block devices of a container. */
import { forbidden, invalid, notFound, notSupported, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import type { Container, Volume, VolumeMount } from "../types.ts";
import { validateDescendingPath } from "./paths.ts";

/** `volumes`: those of the pod that have no faults. Some paths leave out the index, as upstream's do. */
export function validateVolumeMounts(container: Container, volumes: ReadonlyMap<string, Volume>, path: FieldPath): FieldError[] {
  const devices = container.volumeDevices ?? [];
  const mountPaths = new Set<string>();
  return (container.volumeMounts ?? []).flatMap((mount, index) => {
    const at = path.index(index);
    const errors: FieldError[] = [];
    const { name = "", mountPath = "" } = mount;
    if (name === "") errors.push(required(at.child("name")));
    if (!volumes.has(name)) errors.push(notFound(at.child("name"), name));
    if (mountPath === "") errors.push(required(at.child("mountPath")));
    if (mountPaths.has(mountPath)) errors.push(invalid(at.child("mountPath"), mountPath, "must be unique"));
    mountPaths.add(mountPath);
    if (devices.some((device) => device.name === name)) errors.push(invalid(at.child("name"), name, "must not already exist in volumeDevices"));
    if (devices.some((device) => device.devicePath === mountPath))
      errors.push(invalid(at.child("mountPath"), mountPath, "must not already exist as a path in volumeDevices"));
    if (mount.subPath) errors.push(...validateDescendingPath(mount.subPath, path.child("subPath")));
    if (mount.subPathExpr) {
      if (mount.subPath) errors.push(invalid(path.child("subPathExpr"), mount.subPathExpr, "subPathExpr and subPath are mutually exclusive"));
      errors.push(...validateDescendingPath(mount.subPathExpr, path.child("subPathExpr")));
    }
    return [
      ...errors,
      ...validatePropagation(mount, container, path.child("mountPropagation")),
      ...validateRecursiveReadOnly(mount, path.child("recursiveReadOnly")),
    ];
  });
}

export function validateVolumeDevices(container: Container, volumes: ReadonlyMap<string, Volume>, path: FieldPath): FieldError[] {
  const mounts = container.volumeMounts ?? [];
  const names = new Set<string>();
  const paths = new Set<string>();
  return (container.volumeDevices ?? []).flatMap((device, index) => {
    const at = path.index(index);
    const errors: FieldError[] = [];
    const { name = "", devicePath = "" } = device;
    const volume = volumes.get(name);
    if (name === "") errors.push(required(at.child("name")));
    if (names.has(name)) errors.push(invalid(at.child("name"), name, "must be unique"));
    if (volume === undefined) errors.push(notFound(at.child("name"), name));
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined)
      errors.push(invalid(at.child("name"), name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"));
    if (devicePath === "") errors.push(required(at.child("devicePath")));
    if (paths.has(devicePath)) errors.push(invalid(at.child("devicePath"), devicePath, "must be unique"));
    if (devicePath.split("/").includes("..")) errors.push(invalid(at.child("devicePath"), devicePath, "can not contain backsteps ('..')"));
    else paths.add(devicePath);
    if (mounts.some((mount) => mount.name === name)) errors.push(invalid(at.child("name"), name, "must not already exist in volumeMounts"));
    if (mounts.some((mount) => mount.mountPath === devicePath))
      errors.push(invalid(at.child("devicePath"), devicePath, "must not already exist as a path in volumeMounts"));
    if (name !== "") names.add(name);
    return errors;
  });
}

function validatePropagation({ mountPropagation }: VolumeMount, container: Container, path: FieldPath): FieldError[] {
  if (mountPropagation === undefined) return [];
  const errors: FieldError[] = [];
  const supported = ["Bidirectional", "HostToContainer", "None"];
  if (!supported.includes(mountPropagation)) errors.push(notSupported(path, mountPropagation, supported));
  if (mountPropagation === "Bidirectional" && container.securityContext?.privileged !== true) {
    errors.push(forbidden(path, "Bidirectional mount propagation is available only to privileged containers"));
  }
  return errors;
}

function validateRecursiveReadOnly({ recursiveReadOnly, readOnly, mountPropagation }: VolumeMount, path: FieldPath): FieldError[] {
  if (recursiveReadOnly === undefined || recursiveReadOnly === "Disabled") return [];
  if (recursiveReadOnly !== "Enabled" && recursiveReadOnly !== "IfPossible")
    return [notSupported(path, recursiveReadOnly, ["Disabled", "Enabled", "IfPossible"])];
  const errors: FieldError[] = [];
  if (readOnly !== true) errors.push(forbidden(path, "may only be specified when readOnly is true"));
  if (mountPropagation !== undefined && mountPropagation !== "None")
    errors.push(forbidden(path, "may only be specified when mountPropagation is None or not specified"));
  return errors;
}
