/** PersistentVolumes (API reference "PersistentVolume v1 core"). */
import { forbidden, invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import { deepCopy } from "../../apimachinery/json.ts";
import { isDns1123Subdomain, subdomainName } from "../../apimachinery/names.ts";
import { compareQuantities, quantityValue } from "../../apimachinery/quantity.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { jsonDiff } from "../meta/diff.ts";
import { internalForm } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import { immutable, isSame, restoreMembers } from "../update-rules.ts";
import { validateAccessModes, validatePositive, volumeModes } from "./claim-spec.ts";
import { nodeSelectorTermWarnings, validateNodeSelector } from "./node-selector.ts";
import { classAnnotation, classAnnotationWarning } from "./persistent-volume-claims.ts";
import { validateVolumeSource } from "./persistent-volume-sources.ts";
import { applyBlockDefaults } from "./pod/volume-defaults.ts";
import { retiredPlugins } from "./pod/volume-warnings.ts";
import { roundResourceList } from "./resource-names.ts";
import type { PersistentVolume, PersistentVolumeSpec, Volume } from "./types.ts";

const path = FieldPath.root("spec");

export const persistentVolumes = defineKind<PersistentVolume>({
  gvk: { group: "", version: "v1", kind: "PersistentVolume" },
  nameRule: subdomainName,
  generation: "none",
  defaults: applyDefaults,
  create: {
    prepare: (volume, context) => {
      volume.status = { phase: "Pending", lastPhaseTransitionTime: formatTime(context.nowMs) };
    },
    validate: validateVolume,
    warnings: volumeWarnings,
  },
  update: {
    prepare: (volume, old) => restoreMembers(volume, old, "status"),
    validate: (volume, old) => [...validateVolume(volume), ...validateChange(volume, old)],
    warnings: volumeWarnings,
    resetFields: ["status"],
  },
  status: {
    prepare: (volume, old, context) => {
      restoreMembers(volume, old, "spec");
      const status = (volume.status ??= {});
      const isUntold = status.lastPhaseTransitionTime === undefined || status.lastPhaseTransitionTime === old.status?.lastPhaseTransitionTime;
      if (status.phase !== old.status?.phase && isUntold) status.lastPhaseTransitionTime = formatTime(context.nowMs);
    },
    resetFields: ["spec"],
  },
  delete: { answer: "object" },
});

function applyDefaults(volume: PersistentVolume): void {
  const spec = (volume.spec ??= {});
  roundResourceList(spec.capacity);
  spec.persistentVolumeReclaimPolicy ||= "Retain";
  spec.volumeMode ??= "Filesystem";
  if (spec.hostPath !== undefined) spec.hostPath.type ??= "";
  applyBlockDefaults(spec as Pick<Volume, "azureDisk" | "iscsi" | "rbd" | "scaleIO">);
  (volume.status ??= {}).phase ||= "Pending";
}

const reclaimPolicies = ["Delete", "Recycle", "Retain"];

function validateVolume({ spec = {} }: PersistentVolume): FieldError[] {
  const { accessModes = [], persistentVolumeReclaimPolicy: policy, storageClassName, volumeMode } = spec;
  const errors: FieldError[] = accessModes.length === 0 ? [required(path.child("accessModes"))] : [];
  errors.push(...validateAccessModes(accessModes, path.child("accessModes")), ...validateCapacity(spec));
  if (policy && !reclaimPolicies.includes(policy)) errors.push(notSupported(path.child("persistentVolumeReclaimPolicy"), policy, reclaimPolicies));
  errors.push(...validateNodeAffinity(spec), ...validateVolumeSource(spec, path));
  if (policy === "Recycle" && spec.hostPath !== undefined && /^\/[/.]*$/.test(spec.hostPath.path ?? "")) {
    errors.push(forbidden(path.child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'"));
  }
  if (storageClassName) errors.push(...invalidEach(path.child("storageClassName"), storageClassName, isDns1123Subdomain(storageClassName)));
  if (volumeMode !== undefined && !volumeModes.includes(volumeMode)) errors.push(notSupported(path.child("volumeMode"), volumeMode, volumeModes));
  return [...errors, ...validateAttributesClass(spec)];
}

function validateCapacity({ capacity }: PersistentVolumeSpec): FieldError[] {
  const at = path.child("capacity");
  const names = Object.keys(capacity ?? {}).sort();
  const errors: FieldError[] = names.length === 0 ? [required(at)] : [];
  const sorted = capacity === undefined ? null : Object.fromEntries(names.map((name) => [name, capacity[name]]));
  if (capacity?.storage === undefined || names.length > 1) errors.push(notSupported(at, sorted, ["storage"]));
  for (const name of names) {
    const amount = capacity![name]!;
    if (compareQuantities(amount, 0) < 0) errors.push(invalid(at.key(name), quantityValue(amount), "must be a valid resource quantity"));
    errors.push(...validatePositive(amount, at.key(name)));
  }
  return errors;
}

function validateNodeAffinity({ nodeAffinity }: PersistentVolumeSpec): FieldError[] {
  if (nodeAffinity === undefined) return [];
  const at = path.child("nodeAffinity", "required");
  return nodeAffinity.required === undefined ? [required(at, "must specify required node constraints")] : validateNodeSelector(nodeAffinity.required, at);
}

function validateAttributesClass({ volumeAttributesClassName: name, csi }: PersistentVolumeSpec): FieldError[] {
  if (name === undefined) return [];
  const at = path.child("volumeAttributesClassName");
  return [
    ...(name === "" ? [required(at, "an empty string is disallowed")] : invalidEach(at, name, isDns1123Subdomain(name))),
    ...(csi === undefined ? [required(path.child("csi"), "has to be specified when using volumeAttributesClassName")] : []),
  ];
}

/** Names of the members, in the internal form, that are no source of a volume. */
const notSources = [
  "Capacity",
  "AccessModes",
  "ClaimRef",
  "PersistentVolumeReclaimPolicy",
  "StorageClassName",
  "MountOptions",
  "VolumeMode",
  "NodeAffinity",
  "VolumeAttributesClassName",
];

function validateChange({ spec = {} }: PersistentVolume, { spec: before = {} }: PersistentVolume): FieldError[] {
  const errors: FieldError[] = [];
  const now = deepCopy(spec);
  // The secret for growing a volume may come late.
  if (now.csi !== undefined && before.csi !== undefined && before.csi.controllerExpandSecretRef === undefined) delete now.csi.controllerExpandSecretRef;
  const difference = jsonDiff(sourceForm(before), sourceForm(now));
  if (difference !== "") errors.push(forbidden(path.child("persistentvolumesource"), `spec.persistentvolumesource is immutable after creation\n${difference}`));
  errors.push(...immutable(FieldPath.root("volumeMode"), spec.volumeMode, before.volumeMode));
  if (before.nodeAffinity !== undefined && !isSame(spec.nodeAffinity, before.nodeAffinity)) {
    errors.push(
      invalid(
        FieldPath.root("nodeAffinity"),
        internalForm("api.core.v1.VolumeNodeAffinity", spec.nodeAffinity),
        "field is immutable, except for updating from beta label to GA",
      ),
    );
  }
  return errors;
}

function sourceForm(spec: PersistentVolumeSpec): JsonValue {
  const form = internalForm("api.core.v1.PersistentVolumeSpec", spec) as JsonObject;
  return Object.fromEntries(Object.entries(form).filter(([name]) => !notSources.includes(name)));
}

function volumeWarnings({ metadata, spec = {} }: PersistentVolume): string[] {
  const set = spec as unknown as Readonly<Record<string, unknown>>;
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const recycleText = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";
  return [
    ...(metadata.annotations?.[classAnnotation] === undefined ? [] : [classAnnotationWarning]),
    ...(spec.persistentVolumeReclaimPolicy === "Recycle" ? [`${path.child("persistentVolumeReclaimPolicy")}: ${recycleText}`] : []),
    ...terms.flatMap((term, index) => nodeSelectorTermWarnings(term, path.child("nodeAffinity", "required", "nodeSelectorTerms").index(index))),
    ...retiredPlugins
      .filter(([field]) => set[field] !== undefined && !["flocker", "quobyte"].includes(field))
      .map(([, name, text]) => `${path.child(name)}: ${text}`),
  ];
}
