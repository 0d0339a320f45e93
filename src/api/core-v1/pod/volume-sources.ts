/** Rules of each source of a volume. Some stand for sources of PersistentVolumes too. */
import { forbidden, invalid, invalidEach, notSupported, required, tooLong } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { byteLength, isDns1123Label, isDns1123Subdomain, rangeText } from "../../../apimachinery/names.ts";
import type { ObjectMeta } from "../../../apimachinery/object.ts";
import { validateAnnotations } from "../../meta/object-meta.ts";
import { validateLabels } from "../../meta/labels.ts";
import { validateClaimSpec } from "../claim-spec.ts";
import type * as core from "../types.ts";
import { validateFieldSelector, validateResourceSelector, volumeFieldPaths } from "./env.ts";
import { validateDescendingPath, validatePathWithoutBacksteps, validateUnreservedPath } from "./paths.ts";
import { validatePullPolicy } from "./containers.ts";

export const modeText = "must be a number between 0 and 0777 (octal), both inclusive";

export function requireFields<Source extends object>(source: Source, fields: readonly (keyof Source & string)[], path: FieldPath): FieldError[] {
  return fields.filter((field) => isMissing(source[field])).map((field) => required(path.child(field)));
}

const isMissing = (value: unknown) => value === undefined || value === "" || (Array.isArray(value) && value.length === 0);

/** A reference that, where it is given, needs a name. */
export function requireName(reference: { name?: string } | undefined, path: FieldPath): FieldError[] {
  return reference !== undefined && !reference.name ? [required(path.child("name"))] : [];
}

const hostPathTypes = ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];

export function validateHostPath({ path: hostPath = "", type }: core.HostPathVolumeSource, path: FieldPath): FieldError[] {
  if (hostPath === "") return [required(path.child("path"))];
  const errors = validatePathWithoutBacksteps(hostPath, path.child("path"));
  if (type !== undefined && !hostPathTypes.includes(type)) errors.push(notSupported(path.child("type"), type, hostPathTypes));
  return errors;
}

export function validateGitRepo(source: core.GitRepoVolumeSource, path: FieldPath): FieldError[] {
  return [...requireFields(source, ["repository"], path), ...validateDescendingPath(source.directory ?? "", path.child("directory"))];
}

/** Disks of clouds: an id, a partition. */
export function validateDisk<Source extends { partition?: number }>(source: Source, idField: keyof Source & string, path: FieldPath): FieldError[] {
  const { partition = 0 } = source;
  return [
    ...requireFields(source, [idField], path),
    ...(partition < 0 || partition > 255 ? [invalid(path.child("partition"), partition, rangeText(1, 255))] : []),
  ];
}

/** Files from the keys of a Secret or ConfigMap. */
export function validateKeyed<Source extends { items?: core.KeyToPath[]; defaultMode?: number }>(
  source: Source,
  nameField: keyof Source & string,
  path: FieldPath,
): FieldError[] {
  return [
    ...requireFields(source, [nameField], path),
    ...validateMode(source.defaultMode, path.child("defaultMode")),
    ...validateKeyItems(source.items ?? [], path.child("items")),
  ];
}

export function validateKeyItems(items: readonly core.KeyToPath[], path: FieldPath): FieldError[] {
  return items.flatMap((item, index) => {
    const at = path.index(index);
    return [
      ...requireFields(item, ["key", "path"], at),
      ...validateUnreservedPath(item.path ?? "", at.child("path")),
      ...validateMode(item.mode, at.child("mode")),
    ];
  });
}

export function validateMode(mode: number | undefined, path: FieldPath): FieldError[] {
  return mode === undefined || (mode >= 0 && mode <= 0o777) ? [] : [invalid(path, mode, modeText)];
}

export function validateNfs(source: core.NFSVolumeSource, path: FieldPath): FieldError[] {
  const errors = requireFields(source, ["server", "path"], path);
  if (!source.path?.startsWith("/")) errors.push(invalid(path.child("path"), source.path ?? "", "must be an absolute path"));
  return errors;
}

export function validateIscsi(source: Omit<core.ISCSIVolumeSource, "secretRef"> & { secretRef?: object }, path: FieldPath): FieldError[] {
  const errors = requireFields(source, ["targetPortal"], path);
  const { iqn = "", lun = 0, initiatorName } = source;
  errors.push(...(iqn === "" ? [required(path.child("iqn"))] : validateIqn(iqn, path.child("iqn"))));
  if (lun < 0 || lun > 255) errors.push(invalid(path.child("lun"), lun, rangeText(0, 255)));
  if ((source.chapAuthDiscovery === true || source.chapAuthSession === true) && source.secretRef === undefined) errors.push(required(path.child("secretRef")));
  if (initiatorName !== undefined) errors.push(...validateIqn(initiatorName, path.child("initiatorname")));
  return errors;
}

function validateIqn(name: string, path: FieldPath): FieldError[] {
  if (!/^(iqn|eui|naa)/.test(name)) return [invalid(path, name, "must be valid format starting with iqn, eui, or naa")];
  const isValid = /^iqn\.\d{4}-\d{2}\.([0-9A-Za-z.-]+)(:[^,;*&$|\s]+)$|^eui.[0-9A-Za-z]{16}$|^naa.[0-9A-Za-z]{32}$/.test(name);
  return isValid ? [] : [invalid(path, name, "must be valid format")];
}

export function validateFlocker({ datasetName = "", datasetUUID = "" }: core.FlockerVolumeSource, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (datasetName === "" && datasetUUID === "") errors.push(required(path, "one of datasetName and datasetUUID is required"));
  if (datasetName !== "" && datasetUUID !== "") errors.push(invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"));
  if (datasetName.includes("/")) errors.push(invalid(path.child("datasetName"), datasetName, "must not contain '/'"));
  return errors;
}

export function validateQuobyte(source: core.QuobyteVolumeSource, path: FieldPath): FieldError[] {
  const { registry = "", tenant = "" } = source;
  const errors: FieldError[] = [];
  const pairText = "must be a host:port pair or multiple pairs separated by commas";
  if (registry === "") errors.push(required(path.child("registry"), pairText));
  else if (byteLength(tenant) >= 65) errors.push(required(path.child("tenant"), "must be a UUID and may not exceed a length of 64 characters"));
  else
    for (const pair of registry.split(",")) if (!/^(\[[^[\]]*\]|[^:[\]]*):[^:]*$/.test(pair)) errors.push(invalid(path.child("registry"), registry, pairText));
  return [...errors, ...requireFields(source, ["volume"], path)];
}

export function validateDownwardApi(source: core.DownwardAPIVolumeSource, path: FieldPath): FieldError[] {
  return [...validateMode(source.defaultMode, path.child("defaultMode")), ...(source.items ?? []).flatMap((file) => validateDownwardApiFile(file, path))];
}

/** Paths of its faults leave out the index, as upstream's do. */
export function validateDownwardApiFile(file: core.DownwardAPIVolumeFile, path: FieldPath): FieldError[] {
  const errors = [...requireFields(file, ["path"], path), ...validateUnreservedPath(file.path ?? "", path.child("path"))];
  if (file.fieldRef !== undefined) {
    errors.push(...validateFieldSelector(file.fieldRef, volumeFieldPaths, path.child("fieldRef")));
    if (file.resourceFieldRef !== undefined) errors.push(invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
  } else if (file.resourceFieldRef !== undefined) {
    errors.push(...validateResourceSelector(file.resourceFieldRef, path.child("resourceFieldRef"), true));
  } else {
    errors.push(required(path, "one of fieldRef and resourceFieldRef is required"));
  }
  return [...errors, ...validateMode(file.mode, path.child("mode"))];
}

export function validateFc({ targetWWNs = [], wwids = [], lun }: core.FCVolumeSource, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (targetWWNs.length === 0 && wwids.length === 0) errors.push(required(path.child("targetWWNs"), "must specify either targetWWNs or wwids, but not both"));
  if (targetWWNs.length > 0 && wwids.length > 0)
    errors.push(invalid(path.child("targetWWNs"), targetWWNs, "targetWWNs and wwids can not be specified simultaneously"));
  if (targetWWNs.length > 0) {
    if (lun === undefined) errors.push(required(path.child("lun"), "lun is required if targetWWNs is specified"));
    else if (lun < 0 || lun > 255) errors.push(invalid(path.child("lun"), lun, rangeText(0, 255)));
  }
  return errors;
}

export function validateFlexVolume(source: { driver: string; options?: Record<string, string> }, path: FieldPath): FieldError[] {
  const errors = requireFields(source, ["driver"], path);
  for (const key of Object.keys(source.options ?? {}).sort()) {
    if (/(^|\.)(kubernetes\.io|k8s\.io)$/.test(key.split("/")[0]!))
      errors.push(invalid(path.child("options").key(key), key, "kubernetes.io and k8s.io namespaces are reserved"));
  }
  return errors;
}

const managedDisk = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const blobDisk = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

export function validateAzureDisk(source: core.AzureDiskVolumeSource, path: FieldPath): FieldError[] {
  const errors = requireFields(source, ["diskName", "diskURI"], path);
  const { diskURI = "", cachingMode, kind } = source;
  if (cachingMode !== undefined && !["None", "ReadOnly", "ReadWrite"].includes(cachingMode))
    errors.push(notSupported(path.child("cachingMode"), cachingMode, ["None", "ReadOnly", "ReadWrite"]));
  if (kind !== undefined && !["Dedicated", "Managed", "Shared"].includes(kind))
    errors.push(notSupported(path.child("kind"), kind, ["Dedicated", "Managed", "Shared"]));
  if (kind === "Managed" && !diskURI.startsWith("/subscriptions/")) errors.push(notSupported(path.child("diskURI"), diskURI, [managedDisk]));
  if (kind !== undefined && kind !== "Managed" && !diskURI.startsWith("https://")) errors.push(notSupported(path.child("diskURI"), diskURI, [blobDisk]));
  return errors;
}

export function validateStorageOs({ volumeName = "", volumeNamespace = "", secretRef }: core.StorageOSVolumeSource, path: FieldPath): FieldError[] {
  return [
    ...(volumeName === "" ? [required(path.child("volumeName"))] : invalidEach(path.child("volumeName"), volumeName, isDns1123Label(volumeName))),
    ...(volumeNamespace === "" ? [] : invalidEach(path.child("volumeNamespace"), volumeNamespace, isDns1123Label(volumeNamespace))),
    ...requireName(secretRef, path.child("secretRef")),
  ];
}

export function validateCsi({ driver, nodePublishSecretRef }: core.CSIVolumeSource, path: FieldPath): FieldError[] {
  const name = nodePublishSecretRef?.name ?? "";
  const errors = validateCsiDriverName(driver ?? "", path.child("driver"));
  if (nodePublishSecretRef === undefined) return errors;
  return [
    ...errors,
    ...(name === ""
      ? [required(path.child("nodePublishSecretRef", "name"))]
      : invalidEach(path.child("nodePublishSecretRef", "name"), name, isDns1123Subdomain(name))),
  ];
}

export function validateCsiDriverName(driver: string, path: FieldPath): FieldError[] {
  if (driver === "") return [required(path)];
  return [...(byteLength(driver) > 63 ? [tooLong(path, 63)] : []), ...invalidEach(path, driver, isDns1123Subdomain(driver.toLowerCase()))];
}

export function validateEphemeral({ volumeClaimTemplate: template }: core.EphemeralVolumeSource, path: FieldPath): FieldError[] {
  const at = path.child("volumeClaimTemplate");
  if (template === undefined) return [required(at)];
  return [...validateTemplateMeta(template.metadata ?? {}, at.child("metadata")), ...validateClaimSpec(template.spec ?? {}, at.child("spec"))];
}

const forbiddenMetaFields = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

function validateTemplateMeta(metadata: ObjectMeta, path: FieldPath): FieldError[] {
  const errors = [...validateAnnotations(metadata.annotations, path.child("annotations")), ...validateLabels(metadata.labels, path.child("labels"))];
  const set = metadata as Readonly<Record<string, unknown>>;
  return [...errors, ...forbiddenMetaFields.filter((field) => isSet(set[field])).map((field) => forbidden(path.child(field), "cannot be set"))];
}

/** An empty list is a value here, as it is in Go. */
const isSet = (value: unknown) => value !== undefined && value !== null && value !== "" && value !== 0;

export function validateImage({ reference, pullPolicy }: core.ImageVolumeSource, isPod: boolean, path: FieldPath): FieldError[] {
  return [...(isPod && !reference ? [required(path.child("reference"))] : []), ...validatePullPolicy(pullPolicy, path.child("pullPolicy"))];
}
