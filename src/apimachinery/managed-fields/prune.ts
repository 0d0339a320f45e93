/** Removes from a merged object what its applier applied before and no longer does, unless somebody else owns it. */
import type { JsonObject } from "../json.ts";
import type { ManagedSet, ManagedSets } from "./entries.ts";
import { difference, emptySet, intersection, isEmptySet, union } from "./sets/field-set.ts";
import type { FieldSet } from "./sets/field-set.ts";
import { ownedFields } from "./typed/owned-fields.ts";
import { removeFields, withDeclaredFields } from "./typed/remove-fields.ts";
import type { OtherVersion, OtherVersions } from "./versions.ts";

/**
 * `merged` without the fields of `previous`, the set applied last time, that no manager of `sets` (the applier's new set included) owns.
 * Items and maps stay as long as anything is left of them that was not the applier's.
 */
export function pruneUnapplied(merged: JsonObject, previous: ManagedSet, owners: { sets: ManagedSets; versions: OtherVersions }): JsonObject {
  const version = owners.versions(previous.apiVersion);
  if (version === undefined || version.keepsUnapplied === true || isEmptySet(previous.fields)) return merged;
  const converted = version.convert(merged);
  const last = withDeclaredFields(previous.fields, version.schema);
  const pruned = addBackOwned(merged, version.convertBack(removeFields(converted, last, version.schema)), previous.apiVersion, owners);
  // What was removed beside the fields of `previous` comes back: the rest of a list item that is not the applier's.
  const before = withDeclaredFields(ownedFields(converted, version.schema), version.schema);
  const after = withDeclaredFields(ownedFields(version.convert(pruned), version.schema), version.schema);
  return version.convertBack(removeFields(converted, intersection(difference(before, after), last), version.schema));
}

/** Takes only what nobody owns, version by version; the version that was pruned comes first. */
function addBackOwned(merged: JsonObject, pruned: JsonObject, prunedVersion: string, owners: { sets: ManagedSets; versions: OtherVersions }): JsonObject {
  const owned = new Map<string, FieldSet>();
  for (const set of owners.sets.values()) owned.set(set.apiVersion, union(owned.get(set.apiVersion) ?? emptySet, set.fields));
  const order = [...owned.keys()].sort((a, b) => Number(b === prunedVersion) - Number(a === prunedVersion));
  let result = pruned;
  for (const apiVersion of order) {
    const version = owners.versions(apiVersion);
    if (version !== undefined) result = addBackOwnedIn(version, merged, result, owned.get(apiVersion)!);
  }
  return result;
}

function addBackOwnedIn({ schema, convert, convertBack }: OtherVersion, merged: JsonObject, pruned: JsonObject, owned: FieldSet): JsonObject {
  const whole = convert(merged);
  const before = withDeclaredFields(ownedFields(whole, schema), schema);
  const after = withDeclaredFields(ownedFields(convert(pruned), schema), schema);
  return convertBack(removeFields(whole, difference(before, union(after, withDeclaredFields(owned, schema))), schema));
}
