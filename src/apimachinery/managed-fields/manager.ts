/**
 * Managed fields: who owns which field of an object, and server-side apply (documentation page "Server-Side Apply"). Pure functions over
 * objects in canonical JSON: members that Go always prints are there. Neither changes its arguments; `metadata.managedFields` of the
 * objects is read where it says so and never part of what is compared.
 */
import { deepEqual, isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { parseApiVersion } from "../object.ts";
import type { ManagedFieldsEntry } from "../object.ts";
import { PatchError } from "../patch/patch-error.ts";
import type { Schema } from "../schema.ts";
import { capUpdaters } from "./cap-updaters.ts";
import { reportConflicts } from "./conflicts.ts";
import type { ConflictReport } from "./conflicts.ts";
import { decodeEntries, encodeEntries, managerId } from "./entries.ts";
import type { ManagedSets, ManagerName } from "./entries.ts";
import { difference, emptySet, isEmptySet, setOfPaths, union } from "./sets/field-set.ts";
import type { FieldSet } from "./sets/field-set.ts";
import { clientAppliedFields, refreshLastApplied } from "./last-applied.ts";
import { typedFaults } from "./typed/typed-faults.ts";
import { recordApply, recordUpdate } from "./updater.ts";
import type { WriteScope } from "./updater.ts";
import type { OtherVersions } from "./versions.ts";
import { zeroObject } from "./typed/zero-object.ts";

/**
 * The entries of an object that is created, updated or patched (all writes but apply). Its own `managedFields` count when they are readable
 * and the write is to the main resource (`[]` and `[{}]` clear them), else the old object's. An object whose list is empty stays untracked
 * until the first apply.
 */
export function updateManagedFields(input: UpdateInput): ManagedFieldsEntry[] {
  const { oldObject, newObject } = input;
  const oldEntries = entriesOf(oldObject);
  const sets = setsOfWrite(oldEntries, newObject, input.subresource !== "");
  if (sets.size === 0 && oldObject !== undefined) return [];
  trackUpdate(input, { oldObject: oldObject ?? zeroObject(input.schema), newObject }, sets);
  return encodeEntries(sets);
}

/** Where and by whom an object is written. */
export interface WriteInput {
  readonly schema: Schema;
  readonly manager: string;
  /** Of the request, such as `apps/v1`. */
  readonly apiVersion: string;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** The time of the write, RFC 3339. */
  readonly nowText: string;
  /** Fields that this path resets, as dotted paths: `status`, `metadata.labels`. */
  readonly resetFields?: readonly string[] | undefined;
  /** The kind's other versions. Without it managers that used another version lose their fields. */
  readonly otherVersions?: OtherVersions | undefined;
}

export interface UpdateInput extends WriteInput {
  /** Absent for a creation. */
  readonly oldObject: JsonObject | undefined;
  readonly newObject: JsonObject;
}

/**
 * Merges a configuration into the live object. The object returned carries no managed fields, is not defaulted, and has null where all
 * content of a map or list was given up.
 * Throws `PatchError`: `badRequest` for a configuration with managed fields or of another type, `failure` (500) for one that does not fit
 * the schema.
 */
export function applyConfiguration(input: ApplyInput): ApplyOutcome {
  checkConfiguration(input);
  const live = withoutManagedFields(input.liveObject ?? zeroObject(input.schema));
  const sets = liveSets(input, live);
  const scope = scopeOf(input);
  const applier: ManagerName = { manager: input.manager, operation: "Apply", apiVersion: input.apiVersion, subresource: input.subresource };
  const write = { live, config: input.config, applier };
  let outcome = recordApply(scope, { ...write, force: input.force }, sets);
  if ("conflicts" in outcome && input.manager === "kubectl") {
    const allowed = clientAppliedFields(live, input.schema, input.apiVersion);
    const left = outcome.conflicts
      .map(({ owner, fields }) => ({ owner, fields: difference(fields, allowed ?? {}) }))
      .filter(({ fields }) => !isEmptySet(fields));
    outcome = left.length > 0 ? { conflicts: left } : recordApply(scope, { ...write, force: true }, sets);
  }
  if ("conflicts" in outcome) return { kind: "conflicts", ...reportConflicts(outcome.conflicts) };
  const isUnchanged = deepEqual(outcome.object, live);
  const id = managerId(applier);
  const applied = sets.get(id);
  if (applied !== undefined && !isUnchanged) sets.set(id, { ...applied, time: input.nowText });
  const object = input.manager === "kubectl" ? refreshLastApplied(outcome.object, input.config) : outcome.object;
  return { kind: "applied", object, managedFields: encodeEntries(sets), isUnchanged };
}

export interface ApplyInput extends WriteInput {
  /** Absent when the apply creates the object. */
  readonly liveObject: JsonObject | undefined;
  /** The decoded body. */
  readonly config: JsonObject;
  /** Whether to take fields from other managers. */
  readonly force: boolean;
  /** The kind that the path serves; given, a configuration of another type is refused. */
  readonly kind?: string | undefined;
}

export type ApplyOutcome =
  | { readonly kind: "applied"; readonly object: JsonObject; readonly managedFields: ManagedFieldsEntry[]; readonly isUnchanged: boolean }
  | ({ readonly kind: "conflicts" } & ConflictReport);

/** `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`, `/, Kind=`: as errors show the type of a configuration. */
export function objectTypeText(config: JsonObject): string {
  const apiVersion = typeof config["apiVersion"] === "string" ? config["apiVersion"] : "";
  const { group, version } = parseApiVersion(apiVersion) ?? { group: "", version: "" };
  return `${group}/${version}, Kind=${typeof config["kind"] === "string" ? config["kind"] : ""}`;
}

/** Owner of what an object without managed fields already has when it is first applied to. */
const beforeFirstApply = "before-first-apply";

function scopeOf({ schema, apiVersion, otherVersions, resetFields }: WriteInput): WriteScope {
  return { schema, apiVersion, otherVersions, ignored: resetFields === undefined ? emptySet : resetSet(resetFields) };
}

/** Sets by the lists that strategies hold. */
const resetSets = new WeakMap<readonly string[], FieldSet>();

function resetSet(fields: readonly string[]): FieldSet {
  let set = resetSets.get(fields);
  if (set === undefined) resetSets.set(fields, (set = setOfPaths(fields)));
  return set;
}

/** Gives the writer what it changed; its time moves only when that is something. */
function trackUpdate(input: WriteInput, { oldObject, newObject }: { oldObject: JsonObject; newObject: JsonObject }, sets: ManagedSets): void {
  const owned = recordUpdate(scopeOf(input), withoutManagedFields(oldObject), withoutManagedFields(newObject), sets);
  if (!isEmptySet(owned)) {
    const writer: ManagerName = { manager: input.manager, operation: "Update", apiVersion: input.apiVersion, subresource: input.subresource };
    const id = managerId(writer);
    const before = sets.get(id);
    sets.set(id, { ...writer, fields: before === undefined ? owned : union(owned, before.fields), time: input.nowText });
  }
  capUpdaters(sets);
}

function setsOfWrite(oldEntries: readonly ManagedFieldsEntry[], newObject: JsonObject, isSubresource: boolean): ManagedSets {
  if (!isSubresource) {
    const metadata = newObject["metadata"];
    const given = isObject(metadata) ? (metadata["managedFields"] as unknown as ManagedFieldsEntry[] | null | undefined) : undefined;
    if (isReset(given)) return new Map();
    const decoded = decodeEntries(given ?? []);
    if ("sets" in decoded && decoded.sets.size > 0) return decoded.sets;
  }
  const decoded = decodeEntries(oldEntries);
  return "sets" in decoded ? decoded.sets : new Map();
}

/** `[]` and `[{}]`. */
function isReset(entries: readonly ManagedFieldsEntry[] | null | undefined): boolean {
  if (entries === null || entries === undefined) return false;
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0]!).length === 0);
}

function checkConfiguration({ config, schema, kind, apiVersion }: ApplyInput): void {
  if (kind !== undefined && (config["kind"] !== kind || config["apiVersion"] !== apiVersion))
    throw new PatchError("badRequest", `invalid object type: ${objectTypeText(config)}`);
  const metadata = isObject(config["metadata"]) ? config["metadata"] : {};
  const entries = metadata["managedFields"];
  if (entries !== undefined && entries !== null) throw new PatchError("badRequest", "metadata.managedFields must be nil");
  const faults = typedFaults(config, schema);
  if (faults === undefined) return;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  throw new PatchError(
    "failure",
    `failed to create typed patch object (${text(metadata["namespace"])}/${text(metadata["name"])}; ${objectTypeText(config)}): ${faults}`,
  );
}

function liveSets(input: ApplyInput, live: JsonObject): ManagedSets {
  const decoded = decodeEntries(entriesOf(input.liveObject));
  if ("fault" in decoded) throw new PatchError("failure", `failed to decode managed fields: ${decoded.fault}`);
  if (decoded.sets.size === 0 && input.liveObject !== undefined) {
    trackUpdate({ ...input, manager: beforeFirstApply }, { oldObject: zeroObject(input.schema), newObject: live }, decoded.sets);
  }
  return decoded.sets;
}

function entriesOf(object: JsonObject | undefined): readonly ManagedFieldsEntry[] {
  const metadata = object?.["metadata"];
  const entries = isObject(metadata) ? metadata["managedFields"] : undefined;
  return Array.isArray(entries) ? (entries as unknown as ManagedFieldsEntry[]) : [];
}

function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = object["metadata"];
  if (!isObject(metadata) || metadata["managedFields"] === undefined) return object;
  const { managedFields: _, ...others } = metadata;
  return { ...object, metadata: others };
}
