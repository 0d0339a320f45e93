/** `metadata.managedFields` as sets by manager, and back (API type metav1.ManagedFieldsEntry). */
import { deepEqual } from "../json.ts";
import type { JsonObject } from "../json.ts";
import type { ManagedFieldsEntry } from "../object.ts";
import { isEmptySet, sortSet } from "./sets/field-set.ts";
import type { FieldSet } from "./sets/field-set.ts";
import { parseFields } from "./sets/path-element.ts";

export type Operation = "Apply" | "Update";

/** Who owns fields. Appliers are one manager in all versions, updaters one per version. */
export interface ManagerName {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly subresource: string;
}

export interface ManagedSet extends ManagerName {
  readonly fields: FieldSet;
  /** RFC 3339; absent when the manager never changed a value. */
  readonly time: string | undefined;
  /** What it was decoded from, as long as the fields are the same. */
  readonly source?: ManagedFieldsEntry;
}

/** Sets by `managerId`. */
export type ManagedSets = Map<string, ManagedSet>;

/** Identity of a manager: also the order in which conflicts are told. */
export function managerId({ manager, operation, apiVersion, subresource }: ManagerName): string {
  const ofManager = manager === "" ? "" : `"manager":${JSON.stringify(manager)},`;
  const ofVersion = operation === "Update" ? `,"apiVersion":${JSON.stringify(apiVersion)}` : "";
  const ofSubresource = subresource === "" ? "" : `,"subresource":${JSON.stringify(subresource)}`;
  return `{${ofManager}"operation":"${operation}"${ofVersion}${ofSubresource}}`;
}

/** The sets of `entries`, or why they cannot be read. */
export function decodeEntries(entries: readonly ManagedFieldsEntry[]): { sets: ManagedSets } | { fault: string } {
  const sets: ManagedSets = new Map();
  for (const [index, entry] of entries.entries()) {
    const { operation } = entry;
    if (operation !== "Apply" && operation !== "Update") return { fault: "operation must be `Apply` or `Update`" };
    if (!entry.apiVersion) return { fault: "apiVersion must not be empty" };
    if (!entry.fieldsType) return { fault: `missing fieldsType in managed fields entry ${index}` };
    if (entry.fieldsType !== "FieldsV1") return { fault: `invalid fieldsType ${JSON.stringify(entry.fieldsType)} in managed fields entry ${index}` };
    const fields = parseFields(entry.fieldsV1 ?? {});
    if (fields === undefined) return { fault: `error decoding set in managed fields entry ${index}` };
    const name: ManagerName = { manager: entry.manager ?? "", operation, apiVersion: entry.apiVersion, subresource: entry.subresource ?? "" };
    sets.set(managerId(name), { ...name, fields, time: entry.time, source: entry });
  }
  return { sets };
}

/** Entries without empty ones: appliers first, then by time, manager, version, subresource. */
export function encodeEntries(sets: ManagedSets): ManagedFieldsEntry[] {
  return [...sets.values()]
    .filter((set) => !isEmptySet(set.fields))
    .sort(compareSets)
    .map(encodeEntry);
}

/**
 * The entries to store for an object that is written: when they differ from the old ones in nothing but times, and so does the whole
 * object, the old ones, so that a write of nothing stays one. `isSameContent` compares the objects without their managed fields.
 */
export function keepTimes(
  oldEntries: readonly ManagedFieldsEntry[],
  newEntries: readonly ManagedFieldsEntry[],
  isSameContent: () => boolean,
): readonly ManagedFieldsEntry[] {
  if (oldEntries.length !== newEntries.length) return newEntries;
  const isSame = newEntries.every((entry, index) => deepEqual({ ...entry, time: "" }, { ...oldEntries[index], time: "" }));
  return isSame && isSameContent() ? oldEntries : newEntries;
}

function encodeEntry(set: ManagedSet): ManagedFieldsEntry {
  const { manager, operation, apiVersion, subresource, fields, time, source } = set;
  if (source !== undefined && source.time === time && source.apiVersion === apiVersion) return source;
  const entry: ManagedFieldsEntry = manager === "" ? { operation } : { manager, operation };
  entry.apiVersion = apiVersion;
  if (time !== undefined) entry.time = time;
  entry.fieldsType = "FieldsV1";
  entry.fieldsV1 = sortSet(fields) as unknown as JsonObject;
  if (subresource !== "") entry.subresource = subresource;
  return entry;
}

function compareSets(a: ManagedSet, b: ManagedSet): number {
  return (
    compareText(a.operation, b.operation) ||
    seconds(a) - seconds(b) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

/** Whole seconds since the epoch; 0 without a time. */
export function seconds(set: ManagedSet): number {
  return set.time === undefined ? 0 : Math.floor(Date.parse(set.time) / 1000);
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
