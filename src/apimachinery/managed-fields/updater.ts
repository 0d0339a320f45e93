/** Moves ownership between managers when an object changes, and finds the conflicts (documentation page "Server-Side Apply"). */
import type { JsonObject } from "../json.ts";
import type { Schema } from "../schema.ts";
import { compare, withoutFields } from "./typed/compare.ts";
import type { Comparison } from "./typed/compare.ts";
import { managerId } from "./entries.ts";
import type { ManagedSet, ManagedSets, ManagerName } from "./entries.ts";
import { difference, emptySet, intersection, isEmptySet, recursiveDifference, setOfPaths, union } from "./sets/field-set.ts";
import type { FieldSet } from "./sets/field-set.ts";
import { mergeTyped } from "./typed/merge-typed.ts";
import { ownedFields } from "./typed/owned-fields.ts";
import { pruneUnapplied } from "./prune.ts";
import { reconcileSet } from "./reconcile-sets.ts";
import { ownVersion } from "./versions.ts";
import type { OtherVersion, OtherVersions } from "./versions.ts";

/** What a write is about, the same for all kinds of writes. */
export interface WriteScope {
  readonly schema: Schema;
  readonly apiVersion: string;
  readonly otherVersions?: OtherVersions | undefined;
  /** Fields that this path resets; nobody gets to own them through it. */
  readonly ignored: FieldSet;
}

/** Fields of one manager that an apply would change. */
export interface OwnerConflict {
  readonly owner: ManagerName;
  readonly fields: FieldSet;
}

/** What the writer of an update owns of its doing; the others' sets in `sets` lose what changed. */
export function recordUpdate(scope: WriteScope, oldObject: JsonObject, newObject: JsonObject, sets: ManagedSets): FieldSet {
  const versions = versionsOf(scope);
  reconcile(sets, versions);
  const changes = changesByVersion(scope, versions, oldObject, newObject);
  const own = changes(scope.apiVersion)!;
  const conflicts = findConflicts(sets, changes, undefined);
  giveUp(sets, changes, conflicts, undefined);
  return difference(union(own.modified, own.added), unownable);
}

/**
 * Merges `config` into `live` as `applier` and takes out what it applied before and no longer does. Either conflicts, and `sets` is as
 * before, or the merged object, and `sets` with the new owners.
 */
export function recordApply(scope: WriteScope, write: ApplyWrite, sets: ManagedSets): { conflicts: OwnerConflict[] } | { object: JsonObject } {
  const { live, config, applier, force } = write;
  const versions = versionsOf(scope);
  const id = managerId(applier);
  const next: ManagedSets = new Map(sets);
  reconcile(next, versions);
  const previous = next.get(id);
  next.set(id, { ...applier, fields: recursiveDifference(ownedFields(config, scope.schema), scope.ignored), time: previous?.time });
  const merged = mergeTyped(live, config, scope.schema);
  const object = previous === undefined ? merged : pruneUnapplied(merged, previous, { sets: next, versions });
  const changes = changesByVersion(scope, versions, live, object);
  const conflicts = findConflicts(next, changes, id);
  if (conflicts.length > 0 && !force) return { conflicts };
  giveUp(next, changes, conflicts, id);
  const applied = next.get(id);
  if (applied !== undefined) next.set(id, { ...applied, fields: difference(applied.fields, unownable) });
  sets.clear();
  for (const [key, set] of next) if (!isEmptySet(set.fields)) sets.set(key, set);
  return { object };
}

export interface ApplyWrite {
  readonly live: JsonObject;
  readonly config: JsonObject;
  readonly applier: ManagerName;
  readonly force: boolean;
}

/** Never owned by who writes them: identity, and what the server sets. */
const unownable = union(
  setOfPaths(["apiVersion", "kind", "metadata"]),
  setOfPaths(
    ["name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion"].map(
      (name) => `metadata.${name}`,
    ),
  ),
);

function versionsOf(scope: WriteScope): OtherVersions {
  const known = new Map<string, OtherVersion | undefined>([[scope.apiVersion, ownVersion(scope.schema)]]);
  return (apiVersion) => {
    if (!known.has(apiVersion)) known.set(apiVersion, scope.otherVersions?.(apiVersion));
    return known.get(apiVersion);
  };
}

function reconcile(sets: ManagedSets, versions: OtherVersions): void {
  for (const [id, set] of sets) {
    const version = versions(set.apiVersion);
    const fields = version === undefined ? set.fields : reconcileSet(set.fields, version.schema);
    if (fields !== set.fields) sets.set(id, withFields(set, fields));
  }
}

/** The change as a version sees it; undefined when the version does not exist. */
type Changes = (apiVersion: string) => Comparison | undefined;

function changesByVersion(scope: WriteScope, versions: OtherVersions, oldObject: JsonObject, newObject: JsonObject): Changes {
  const known = new Map<string, Comparison | undefined>();
  return (apiVersion) => {
    if (known.has(apiVersion)) return known.get(apiVersion);
    const version = versions(apiVersion);
    const change = version && withoutFields(compare(version.convert(oldObject), version.convert(newObject), version.schema), scope.ignored);
    known.set(apiVersion, change);
    return change;
  };
}

/** What others than `writer` own of what is new. Managers of versions that are gone leave `sets`. */
function findConflicts(sets: ManagedSets, changes: Changes, writer: string | undefined): OwnerConflict[] {
  const conflicts: OwnerConflict[] = [];
  for (const [id, set] of sets) {
    if (id === writer) continue;
    const change = changes(set.apiVersion);
    if (change === undefined) {
      sets.delete(id);
      continue;
    }
    const fields = union(intersection(set.fields, change.modified), intersection(set.fields, change.added));
    if (!isEmptySet(fields)) conflicts.push({ owner: set, fields });
  }
  return conflicts;
}

/** Takes from the others what is new and what is gone. */
function giveUp(sets: ManagedSets, changes: Changes, conflicts: readonly OwnerConflict[], writer: string | undefined): void {
  const lost = new Map(conflicts.map(({ owner, fields }) => [managerId(owner), fields]));
  for (const [id, set] of sets) {
    if (id === writer) continue;
    const removed = changes(set.apiVersion)?.removed ?? emptySet;
    const fields = recursiveDifference(difference(set.fields, lost.get(id) ?? emptySet), removed);
    if (isEmptySet(fields)) sets.delete(id);
    else if (fields !== set.fields) sets.set(id, withFields(set, fields));
  }
}

function withFields({ manager, operation, apiVersion, subresource, time }: ManagedSet, fields: FieldSet): ManagedSet {
  return { manager, operation, apiVersion, subresource, time, fields };
}
