/**
 * Managed fields at the `scale` subresource: the Scale object shows who owns the replicas of its parent, and a write to it moves that
 * ownership in the parent. Managers know the field by the parent's path in the parent's entries, by `spec.replicas` in the Scale's.
 */
import type { ManagedFieldsEntry } from "../object.ts";
import { decodeEntries, encodeEntries } from "./entries.ts";
import type { ManagedSets } from "./entries.ts";
import { difference, intersection, isEmptySet, setOfPaths } from "./sets/field-set.ts";

/** Where the replicas stand in each version of the parent (`spec.replicas`); undefined for a version that has no scale. */
export type ReplicasPaths = ReadonlyMap<string, string | undefined>;

/** The entries of the Scale of an object with `parentEntries`. Unreadable entries give none. */
export function scaleEntries(parentEntries: readonly ManagedFieldsEntry[], paths: ReplicasPaths): ManagedFieldsEntry[] {
  const shown: ManagedSets = new Map();
  for (const [id, set] of decoded(parentEntries)) {
    const path = paths.get(set.apiVersion);
    if (path === undefined || isEmptySet(intersection(set.fields, setOfPaths([path])))) continue;
    const { manager, operation, subresource, time } = set;
    shown.set(id, { manager, operation, subresource, time, apiVersion: scaleApiVersion, fields: setOfPaths([scalePath]) });
  }
  return encodeEntries(shown);
}

/**
 * The parent's entries after a write to its Scale, whose entries are `written` now. Who is no longer among those loses the replicas; who is
 * new among them gets them, in the version `apiVersion`, without a time. An updater of the parent counts as new, since the Scale shows it
 * under another version.
 */
export function parentEntriesAfterScale(write: ScaleWrite): ManagedFieldsEntry[] {
  const { parentEntries, written, paths, apiVersion } = write;
  const owners = decoded(written);
  const parents = decoded(parentEntries);
  const result: ManagedSets = new Map();
  for (const [id, set] of parents) {
    if (!paths.has(set.apiVersion)) continue;
    const replicas = setOfPaths([paths.get(set.apiVersion) ?? ""]);
    const isOwner = paths.get(set.apiVersion) !== undefined && !isEmptySet(intersection(set.fields, replicas));
    if (!isOwner || owners.delete(id)) {
      result.set(id, set);
      continue;
    }
    const { manager, operation, subresource, time } = set;
    result.set(id, { manager, operation, subresource, time, apiVersion: set.apiVersion, fields: difference(set.fields, replicas) });
  }
  const path = paths.get(apiVersion);
  for (const [id, { manager, operation, subresource }] of owners) {
    if (path !== undefined) result.set(id, { manager, operation, subresource, apiVersion, time: parents.get(id)?.time, fields: setOfPaths([path]) });
  }
  return encodeEntries(result);
}

export interface ScaleWrite {
  readonly parentEntries: readonly ManagedFieldsEntry[];
  /** Entries of the Scale after the write. */
  readonly written: readonly ManagedFieldsEntry[];
  readonly paths: ReplicasPaths;
  /** The parent's version that serves the Scale. */
  readonly apiVersion: string;
}

const scaleApiVersion = "autoscaling/v1";
const scalePath = "spec.replicas";

function decoded(entries: readonly ManagedFieldsEntry[]): ManagedSets {
  const result = decodeEntries(entries);
  return "sets" in result ? result.sets : new Map();
}
