/** PersistentVolumeClaims (API reference "PersistentVolumeClaim v1 core"). */
import { forbidden, invalid, notSupported } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { deepCopy } from "../../apimachinery/json.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { compareQuantities, quantityValue } from "../../apimachinery/quantity.ts";
import { jsonDiff } from "../meta/diff.ts";
import { internalForm, isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { immutable, restoreMembers } from "../update-rules.ts";
import { validateClaimSpec } from "./claim-spec.ts";
import { applyClaimSpecDefaults } from "./pod/volume-defaults.ts";
import { fractionWarnings } from "./pod/warnings.ts";
import { roundResourceList } from "./resource-names.ts";
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus } from "./types.ts";

const path = FieldPath.root("spec");
const specType = "api.core.v1.PersistentVolumeClaimSpec";
export const classAnnotation = "volume.beta.kubernetes.io/storage-class";
export const classAnnotationWarning = `metadata.annotations[${classAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`;

export const persistentVolumeClaims = defineKind<PersistentVolumeClaim>({
  gvk: { group: "", version: "v1", kind: "PersistentVolumeClaim" },
  nameRule: subdomainName,
  generation: "none",
  defaults: (claim) => {
    applyClaimSpecDefaults((claim.spec ??= {}));
    for (const list of [claim.status?.capacity, claim.status?.allocatedResources]) roundResourceList(list);
    (claim.status ??= {}).phase ||= "Pending";
  },
  create: {
    prepare: (claim, context) => {
      claim.status = { phase: "Pending" };
      settleDataSources(claim.spec!, undefined, context);
    },
    validate: ({ spec = {} }) => validateClaimSpec(spec, path),
    warnings: claimWarnings,
  },
  update: {
    prepare: (claim, old, context) => {
      restoreMembers(claim, old, "status");
      settleDataSources(claim.spec!, old.spec, context);
    },
    validate: (claim, old) => [...validateClaimSpec(claim.spec ?? {}, path), ...validateChange(claim, old)],
    warnings: claimWarnings,
    resetFields: ["status"],
  },
  status: { prepare: (claim, old) => restoreMembers(claim, old, "spec"), validate: ({ status = {} }) => validateStatus(status), resetFields: ["spec"] },
  delete: { answer: "object" },
});

/** The older field names claims and snapshots only, the newer one anything; each fills the other. */
function settleDataSources(spec: PersistentVolumeClaimSpec, old: PersistentVolumeClaimSpec | undefined, context: RuleContext): void {
  const { dataSource } = spec;
  const isKnownSource =
    (dataSource?.kind === "PersistentVolumeClaim" && !dataSource.apiGroup) ||
    (dataSource?.kind === "VolumeSnapshot" && dataSource.apiGroup === "snapshot.storage.k8s.io");
  if (dataSource !== undefined && !isKnownSource && old?.dataSource === undefined) delete spec.dataSource;
  if (!context.isEnabled("CrossNamespaceVolumeDataSource") && spec.dataSourceRef?.namespace !== undefined && old?.dataSourceRef?.namespace === undefined)
    delete spec.dataSourceRef;
  if (spec.dataSource !== undefined && spec.dataSourceRef === undefined) spec.dataSourceRef = { ...spec.dataSource };
  else if (spec.dataSource === undefined && spec.dataSourceRef !== undefined && !spec.dataSourceRef.namespace) {
    const { namespace: _none, ...source } = spec.dataSourceRef;
    spec.dataSource = source;
  }
}

/** Only a bound claim may grow, or change its attributes class; a class may come late. */
function validateChange(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const now = deepCopy(claim.spec ?? {});
  const before = deepCopy(old.spec ?? {});
  const annotation = claim.metadata.annotations?.[classAnnotation];
  const errors: FieldError[] =
    annotation === old.metadata.annotations?.[classAnnotation]
      ? []
      : [invalid(FieldPath.root("metadata", "annotations", classAnnotation), annotation ?? "", "field is immutable")];
  if (!before.volumeName && now.volumeName !== undefined) before.volumeName = now.volumeName;
  if (before.storageClassName === undefined && old.metadata.annotations?.[classAnnotation] === undefined) delete now.storageClassName;
  const oldSize = before.resources?.requests?.storage;
  const newSize = now.resources?.requests?.storage;
  if (claim.status?.phase === "Bound") {
    if (now.resources?.requests !== undefined && oldSize !== undefined) now.resources.requests.storage = oldSize;
    if (before.volumeAttributesClassName === undefined) delete now.volumeAttributesClassName;
    else now.volumeAttributesClassName = before.volumeAttributesClassName;
  }
  if (!isSemanticallyEqual(specType, now, before)) {
    const difference = jsonDiff(internalForm(specType, before), internalForm(specType, now));
    errors.push(forbidden(path, `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${difference}`));
  }
  if (
    newSize !== undefined &&
    oldSize !== undefined &&
    compareQuantities(newSize, oldSize) < 0 &&
    compareQuantities(newSize, old.status?.capacity?.storage ?? 0) <= 0
  ) {
    errors.push(forbidden(path.child("resources", "requests", "storage"), "field can not be less than status.capacity"));
  }
  errors.push(...immutable(FieldPath.root("volumeMode"), claim.spec?.volumeMode, old.spec?.volumeMode));
  return errors;
}

const resizeStates = ["ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"];

function validateStatus({ capacity, allocatedResources, allocatedResourceStatuses }: PersistentVolumeClaimStatus): FieldError[] {
  const at = FieldPath.root("status");
  const errors: FieldError[] = [];
  for (const [name, amount] of Object.entries(capacity ?? {}).sort())
    if (compareQuantities(amount, 0) < 0) errors.push(invalid(at.child("capacity").key(name), quantityValue(amount), "must be a valid resource quantity"));
  for (const [name, state] of Object.entries(allocatedResourceStatuses ?? {}).sort()) {
    if (!isStorageName(name)) errors.push(notSupported(at.child("allocatedResourceStatuses"), name, ["storage"]));
    if (!resizeStates.includes(state)) errors.push(notSupported(at.child("allocatedResourceStatuses"), name, resizeStates));
  }
  for (const [name, amount] of Object.entries(allocatedResources ?? {}).sort()) {
    if (!isStorageName(name)) errors.push(notSupported(at.child("allocatedResources"), name, ["storage"]));
    else if (compareQuantities(amount, 0) < 0)
      errors.push(invalid(at.child("allocatedResources").key(name), quantityValue(amount), "must be a valid resource quantity"));
  }
  return errors;
}

/** `storage`, or a resource of somebody's own. */
function isStorageName(name: string): boolean {
  return name === "storage" || (name.includes("/") && !name.split("/")[0]!.endsWith("kubernetes.io"));
}

function claimWarnings({ metadata, spec = {} }: PersistentVolumeClaim): string[] {
  return [
    ...(metadata.annotations?.[classAnnotation] === undefined ? [] : [classAnnotationWarning]),
    ...fractionWarnings(spec.resources?.requests, ["storage"], path.child("resources", "requests")),
  ];
}
