/** Rules of the spec of a PersistentVolumeClaim, alone or as a template in a pod or a StatefulSet. */
import { forbidden, invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain } from "../../apimachinery/names.ts";
import { compareQuantities } from "../../apimachinery/quantity.ts";
import { validateLabelSelector } from "../meta/labels.ts";
import { quantityText } from "./resource-names.ts";
import type { PersistentVolumeClaimSpec, TypedObjectReference } from "./types.ts";

export const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
export const volumeModes = ["Block", "Filesystem"];

export function validateClaimSpec(spec: PersistentVolumeClaimSpec, path: FieldPath): FieldError[] {
  const modes = spec.accessModes ?? [];
  const errors: FieldError[] = modes.length === 0 ? [required(path.child("accessModes"), "at least 1 access mode is required")] : [];
  errors.push(...validateLabelSelector(spec.selector, path.child("selector")), ...validateAccessModes(modes, path.child("accessModes")));
  const storage = spec.resources?.requests?.storage;
  const storagePath = path.child("resources").key("storage");
  if (storage === undefined) errors.push(required(storagePath));
  else errors.push(...validatePositive(storage, storagePath));
  if (spec.storageClassName) errors.push(...invalidEach(path.child("storageClassName"), spec.storageClassName, isDns1123Subdomain(spec.storageClassName)));
  if (spec.volumeMode !== undefined && !volumeModes.includes(spec.volumeMode))
    errors.push(notSupported(path.child("volumeMode"), spec.volumeMode, volumeModes));
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined) errors.push(...validateDataSource(dataSource, path.child("dataSource")));
  if (dataSourceRef !== undefined) errors.push(...validateDataSource(dataSourceRef, path.child("dataSourceRef")));
  if (dataSource !== undefined && dataSourceRef !== undefined && !dataSourceRef.namespace && !isSameSource(dataSource, dataSourceRef)) {
    // Upstream shows a path object here, which prints as an empty one.
    errors.push(invalid(path, {}, "must match dataSourceRef"));
  }
  if (spec.volumeAttributesClassName)
    errors.push(...invalidEach(path.child("volumeAttributesClassName"), spec.volumeAttributesClassName, isDns1123Subdomain(spec.volumeAttributesClassName)));
  return errors;
}

export function validateAccessModes(modes: readonly string[], path: FieldPath): FieldError[] {
  const errors = modes.filter((mode) => !accessModes.includes(mode)).map((mode) => notSupported(path, mode, accessModes));
  if (modes.includes("ReadWriteOncePod") && modes.some((mode) => mode !== "ReadWriteOncePod" && accessModes.includes(mode))) {
    errors.push(forbidden(path, "may not use ReadWriteOncePod with other access modes"));
  }
  return errors;
}

export function validatePositive(amount: string | number, path: FieldPath): FieldError[] {
  return compareQuantities(amount, 0) <= 0 ? [invalid(path, quantityText(amount), "must be greater than zero")] : [];
}

function validateDataSource({ apiGroup, kind = "", name = "", namespace }: TypedObjectReference, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (name === "") errors.push(required(path.child("name")));
  if (kind === "") errors.push(required(path.child("kind")));
  if (!apiGroup && kind !== "PersistentVolumeClaim") errors.push(invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  if (apiGroup) errors.push(...invalidEach(path.child("apiGroup"), apiGroup, isDns1123Subdomain(apiGroup)));
  if (namespace) errors.push(...invalidEach(path.child("namespace"), namespace, isDns1123Subdomain(namespace)));
  return errors;
}

function isSameSource(left: TypedObjectReference, right: TypedObjectReference): boolean {
  return (left.apiGroup ?? "") === (right.apiGroup ?? "") && left.kind === right.kind && left.name === right.name;
}
