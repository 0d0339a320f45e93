/** What the updates of many kinds have in common: members that a path may not change, and those that nobody may. */
import type { FieldError } from "../apimachinery/field-error.ts";
import { invalid } from "../apimachinery/field-error.ts";
import type { FieldPath } from "../apimachinery/field-path.ts";
import { deepCopy, deepEqual } from "../apimachinery/json.ts";
import type { KubeObject, ObjectMeta } from "../apimachinery/object.ts";

/** Sets `names` of `object` to what `old` has. */
export function restoreMembers(object: KubeObject, old: KubeObject, ...names: string[]): void {
  for (const name of names) restore(object, old, name);
}

/** A write to a status keeps the metadata that clients own, but for kinds where labels and annotations may change there, too. */
export function restoreMetadata(object: KubeObject, old: KubeObject): void {
  for (const name of clientMetadata) restore(object.metadata as Record<string, unknown>, old.metadata as Record<string, unknown>, name);
}

/** A write to the status of a few kinds keeps the labels, too. */
export function restoreLabels(object: KubeObject, old: KubeObject): void {
  restore(object.metadata as Record<string, unknown>, old.metadata as Record<string, unknown>, "labels");
}

const clientMetadata: ReadonlyArray<keyof ObjectMeta> = ["deletionTimestamp", "generation", "labels", "annotations", "finalizers", "ownerReferences"];

function restore(object: Record<string, unknown>, old: Record<string, unknown>, name: string): void {
  if (old[name] === undefined) delete object[name];
  else object[name] = deepCopy(old[name]);
}

/** A fault when two values differ; `shown` is what its text prints (default: the new value). */
export function immutable(path: FieldPath, value: unknown, old: unknown, shown: unknown = value): FieldError[] {
  return isSame(value, old) ? [] : [invalid(path, shown, "field is immutable")];
}

/** Equality where absent, null and empty structures are the same. */
export function isSame(value: unknown, old: unknown): boolean {
  return deepEqual(withoutEmpty(value), withoutEmpty(old));
}

function withoutEmpty(value: unknown): unknown {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0 ? undefined : (value ?? undefined);
}
