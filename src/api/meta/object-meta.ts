/** Rules of `metadata`, whatever the kind (API reference "ObjectMeta"). */
import { numberOf } from "../../apimachinery/json.ts";
import { forbidden, invalid, invalidEach, required, tooLong } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isQualifiedName, labelName } from "../../apimachinery/names.ts";
import type { NameRule } from "../../apimachinery/names.ts";
import { parseApiVersion } from "../../apimachinery/object.ts";
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from "../../apimachinery/object.ts";
import { validateLabels } from "./labels.ts";

export interface ObjectMetaRules {
  readonly nameRule: NameRule;
  readonly isNamespaced: boolean;
  /** Custom resources may have finalizers without a domain. Default true. */
  readonly requiresQualifiedFinalizers?: boolean;
}

/** Faults of the metadata of an object that is to be made. The name has been generated already where `generateName` asked for it. */
export function validateObjectMeta(metadata: ObjectMeta, rules: ObjectMetaRules, path: FieldPath = FieldPath.root("metadata")): FieldError[] {
  const errors: FieldError[] = [];
  const { name = "", generateName = "", namespace = "", generation = 0 } = metadata;
  if (generateName !== "") errors.push(...invalidEach(path.child("generateName"), generateName, rules.nameRule(generateName, true)));
  if (name === "") errors.push(required(path.child("name"), "name or generateName is required"));
  else errors.push(...invalidEach(path.child("name"), name, rules.nameRule(name)));
  if (rules.isNamespaced) {
    if (namespace === "") errors.push(required(path.child("namespace")));
    else errors.push(...invalidEach(path.child("namespace"), namespace, labelName(namespace)));
  } else if (namespace !== "") {
    errors.push(forbidden(path.child("namespace"), "not allowed on this type"));
  }
  if (numberOf(generation) < 0) errors.push(invalid(path.child("generation"), generation, "must be greater than or equal to 0"));
  errors.push(
    ...validateLabels(metadata.labels, path.child("labels")),
    ...validateAnnotations(metadata.annotations, path.child("annotations")),
    ...validateOwnerReferences(metadata.ownerReferences ?? [], path.child("ownerReferences")),
    ...validateFinalizers(metadata.finalizers ?? [], path.child("finalizers")),
    ...validateManagedFields(metadata.managedFields ?? [], path.child("managedFields")),
  );
  if (rules.requiresQualifiedFinalizers !== false) errors.push(...validateFinalizerNames(metadata.finalizers ?? [], path.child("finalizers")));
  return errors;
}

/** Takes from `old` what a client may leave out of an update: uid, creation time, an ongoing deletion. */
export function inheritObjectMeta(metadata: ObjectMeta, old: Readonly<ObjectMeta>): void {
  if ((metadata.uid ?? "") === "" && old.uid !== undefined) metadata.uid = old.uid;
  if (old.creationTimestamp !== undefined) metadata.creationTimestamp = old.creationTimestamp;
  if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
}

/** Faults of changed metadata, after `inheritObjectMeta`. */
export function validateObjectMetaUpdate(
  metadata: ObjectMeta,
  old: Readonly<ObjectMeta>,
  path: FieldPath = FieldPath.root("metadata"),
  requiresQualifiedFinalizers = true,
): FieldError[] {
  const errors: FieldError[] = [...validateFinalizers(metadata.finalizers ?? [], path.child("finalizers"))];
  if (old.deletionTimestamp !== undefined) errors.push(...validateNoNewFinalizers(metadata.finalizers ?? [], old.finalizers ?? [], path.child("finalizers")));
  if ((metadata.resourceVersion ?? "") === "") errors.push(invalid(path.child("resourceVersion"), "", "must be specified for an update"));
  if ((metadata.generation ?? 0) < (old.generation ?? 0)) errors.push(invalid(path.child("generation"), metadata.generation ?? 0, "must not be decremented"));
  for (const field of ["name", "namespace", "uid"] as const) {
    if ((metadata[field] ?? "") !== (old[field] ?? "")) errors.push(invalid(path.child(field), metadata[field] ?? "", "field is immutable"));
  }
  for (const field of ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] as const) {
    if ((metadata[field] ?? null) !== (old[field] ?? null)) errors.push(invalid(path.child(field), metadata[field], "field is immutable"));
  }
  errors.push(
    ...validateLabels(metadata.labels, path.child("labels")),
    ...validateAnnotations(metadata.annotations, path.child("annotations")),
    ...validateOwnerReferences(metadata.ownerReferences ?? [], path.child("ownerReferences")),
    ...validateManagedFields(metadata.managedFields ?? [], path.child("managedFields")),
  );
  if (requiresQualifiedFinalizers) errors.push(...validateFinalizerNames(metadata.finalizers ?? [], path.child("finalizers")));
  return errors;
}

/** All keys and values together may have 256 KiB. */
const maxAnnotationBytes = 256 * 1024;

export function validateAnnotations(annotations: Readonly<Record<string, string>> | undefined, path: FieldPath): FieldError[] {
  const entries = Object.entries(annotations ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const errors = entries.flatMap(([key]) => invalidEach(path, key, isQualifiedName(key.toLowerCase())));
  const bytes = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  if (bytes > maxAnnotationBytes) errors.push(tooLong(path, maxAnnotationBytes));
  return errors;
}

/** Name of a field manager: at most 128 bytes, printable. */
export function validateFieldManager(manager: string, path: FieldPath): FieldError[] {
  if (/^[ -~]{0,128}$/.test(manager)) return [];
  const errors: FieldError[] = [];
  if (byteLength(manager) > 128) errors.push(tooLong(path, 128));
  let position = 0;
  for (const letter of manager) {
    if (letter !== " " && !/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(letter)) {
      const code = letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
      errors.push(invalid(path, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += byteLength(letter);
  }
  return errors;
}

function validateOwnerReferences(references: readonly OwnerReference[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  let controller = "";
  references.forEach((reference, index) => {
    errors.push(...validateOwnerReference(reference, path.index(index)));
    if (reference.controller !== true) return;
    const name = `${reference.kind}/${reference.name}`;
    if (controller === "") controller = name;
    else
      errors.push(
        invalid(path, references.map(inOrder), `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`),
      );
  });
  return errors;
}

function validateOwnerReference(reference: OwnerReference, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const { apiVersion = "" } = reference;
  const parsed = parseApiVersion(apiVersion);
  if (apiVersion === "") errors.push(required(path.child("apiVersion"), "must not be empty"));
  else if (parsed === undefined || parsed.version === "") errors.push(invalid(path.child("apiVersion"), apiVersion, "must be <group>/<version> or <version>"));
  for (const field of ["kind", "name", "uid"] as const) {
    if ((reference[field] ?? "") === "") errors.push(required(path.child(field), "must not be empty"));
  }
  if (apiVersion === "v1" && reference.kind === "Event") errors.push(invalid(path, inOrder(reference), "/v1, Kind=Event is disallowed from being an owner"));
  return errors;
}

/** Members in the order in which the type declares them, as error texts show a value. */
function inOrder(reference: OwnerReference): OwnerReference {
  const { apiVersion = "", kind = "", name = "", uid = "", controller, blockOwnerDeletion } = reference;
  return { apiVersion, kind, name, uid, ...(controller !== undefined && { controller }), ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }) };
}

function validateFinalizers(finalizers: readonly string[], path: FieldPath): FieldError[] {
  const errors = finalizers.flatMap((finalizer) => invalidEach(path, finalizer, isQualifiedName(finalizer)));
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    errors.push(invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
  return errors;
}

/** Faults of names of finalizers, each at its index: a domain, or one of Kubernetes' own. */
export function validateFinalizerNames(finalizers: readonly string[], path: FieldPath): FieldError[] {
  return finalizers.flatMap((finalizer, index) =>
    finalizer.includes("/") || ["kubernetes", "orphan", "foregroundDeletion"].includes(finalizer)
      ? []
      : [invalid(path.index(index), finalizer, "name is neither a standard finalizer name nor is it fully qualified")],
  );
}

function validateNoNewFinalizers(finalizers: readonly string[], old: readonly string[], path: FieldPath): FieldError[] {
  const added = [...new Set(finalizers)].filter((finalizer) => !old.includes(finalizer)).sort();
  if (added.length === 0) return [];
  return [
    forbidden(
      path,
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`,
    ),
  ];
}

function validateManagedFields(entries: readonly ManagedFieldsEntry[], path: FieldPath): FieldError[] {
  return entries.flatMap((entry, index) => {
    const at = path.index(index);
    const errors: FieldError[] = [];
    if (entry.operation !== "Apply" && entry.operation !== "Update")
      errors.push(invalid(at.child("operation"), entry.operation ?? "", "must be `Apply` or `Update`"));
    if ((entry.fieldsType ?? "") !== "" && entry.fieldsType !== "FieldsV1")
      errors.push(invalid(at.child("fieldsType"), entry.fieldsType, "must be `FieldsV1`"));
    errors.push(...validateFieldManager(entry.manager ?? "", at.child("manager")));
    if (byteLength(entry.subresource ?? "") > 256) errors.push(tooLong(at.child("subresource"), 256));
    return errors;
  });
}
