/**
 * Strategic merge patch (documentation page "Update API Objects in Place Using kubectl patch"): a merge patch in which lists with a merge
 * key are merged item by item, steered by the directives `$patch`, `$retainKeys`, `$setElementOrder/x` and `$deleteFromPrimitiveList/x`.
 *
 * Maps are merged from the top down over a queue of (target, patch) pairs: a target is a copy that already hangs in the result, so that no
 * depth of nesting recurses, and pairs of one target are worked off in the order of the patch.
 */
import { deepCopy, deepEqual, isObject, setMember } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { FieldSchema, Schema, StructSchema } from "../schema.ts";
import { goKind, goText, jsonKind } from "./go-text.ts";
import { withoutNulls } from "./merge-patch.ts";
import { PatchError } from "./patch-error.ts";
import { mergeList, orderItems, patchDirective, unknownDirective } from "./strategic-merge-list.ts";
import type { PendingMerge } from "./strategic-merge-list.ts";

/**
 * The patched object; the arguments stay as they are. `schema` is the kind's. A null patch changes nothing.
 * Throws `PatchError`: `badRequest` for a malformed patch or directive, `failure` for what the lists' rules refuse.
 */
export function applyStrategicMergePatch(document: JsonObject, patch: JsonValue, schema: StructSchema): JsonObject {
  if (patch === null) return document;
  if (!isObject(patch)) throw new PatchError("badRequest", `json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`);
  const result = { ...document };
  const queue: PendingMerge[] = [{ target: result, patch, schema }];
  for (let index = 0; index < queue.length; index++) mergeMap(queue[index]!, queue);
  return result;
}

const retainKeysDirective = "$retainKeys";
const orderPrefix = "$setElementOrder/";
const deletionPrefix = "$deleteFromPrimitiveList/";

function mergeMap({ target, patch, schema }: PendingMerge, queue: PendingMerge[]): void {
  if (Object.hasOwn(patch, patchDirective)) {
    replaceMap(target, patch);
    return;
  }
  retainKeys(target, patch);
  const ordered = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(orderPrefix)) continue;
    const name = key.slice(orderPrefix.length);
    mergeOrderedList({ target, patch, schema }, name, queue);
    ordered.add(key).add(name);
  }
  for (const [key, change] of Object.entries(patch)) {
    if (key === retainKeysDirective || ordered.has(key)) continue;
    if (key.startsWith(deletionPrefix)) deleteFromList(target, key.slice(deletionPrefix.length), change);
    else mergeMember({ target, patch, schema }, key, queue);
  }
}

/** `$patch: replace` puts the patch in place of the target, `$patch: delete` an empty map. */
function replaceMap(target: JsonObject, patch: JsonObject): void {
  const directive = patch[patchDirective]!;
  if (directive !== "replace" && directive !== "delete") throw unknownDirective(directive, patch);
  for (const key of Object.keys(target)) delete target[key];
  if (directive === "delete") return;
  for (const [key, value] of Object.entries(patch)) if (key !== patchDirective) setMember(target, key, deepCopy(value));
}

/** `$retainKeys` drops every key that it does not list, and must list every key that the patch sets. */
function retainKeys(target: JsonObject, patch: JsonObject): void {
  if (!Object.hasOwn(patch, retainKeysDirective)) return;
  const kept = patch[retainKeysDirective]!;
  if (!Array.isArray(kept)) throw new PatchError("badRequest", "invalid patch format of retainKeys");
  for (const [key, value] of Object.entries(patch)) {
    if (key === retainKeysDirective || value === null || key.startsWith(deletionPrefix) || key.startsWith(orderPrefix)) continue;
    if (!kept.includes(key)) throw new PatchError("badRequest", "invalid patch format of retainKeys");
  }
  for (const key of Object.keys(target)) if (!kept.includes(key)) delete target[key];
}

/** A list with `$setElementOrder/name`: merged as usual, then put into the order given. */
function mergeOrderedList({ target, patch, schema }: PendingMerge, name: string, queue: PendingMerge[]): void {
  const order = patch[orderPrefix + name]!;
  if (!Array.isArray(order)) throw wrongArgument(order);
  const current = Object.hasOwn(target, name) ? target[name]! : undefined;
  const change = Object.hasOwn(patch, name) ? patch[name]! : undefined;
  if (current !== undefined && !Array.isArray(current)) throw wrongArgument(current);
  if (change !== undefined && !Array.isArray(change)) throw wrongArgument(change);
  const { items, mergeKey, isMerged } = listRules(schema, name);
  if (change !== undefined) checkOrder(change, order, mergeKey);
  if (current === undefined && change === undefined) return;
  const server = current ?? [];
  let merged = server;
  if (current === undefined) merged = withoutDirectives(change!) as JsonValue[];
  else if (change !== undefined) merged = isMerged ? mergeList({ original: server, patch: change, schema: items, mergeKey }, queue) : deepCopy(change);
  if (server.length === 0 && (change ?? []).length === 0) throw new PatchError("failure", "no elements in any of the given slices");
  setMember(target, name, orderItems(merged, order, server, mergeKey));
}

/** The patched items must stand in `order` in the same sequence. */
function checkOrder(change: JsonValue[], order: JsonValue[], mergeKey: string): void {
  const identity = (item: JsonValue) => (mergeKey !== "" && isObject(item) ? item[mergeKey] : item);
  const patched = change.filter((item) => !(mergeKey !== "" && isObject(item) && item[patchDirective] === "delete"));
  let next = 0;
  for (const item of order) if (next < patched.length && deepEqual(identity(item), identity(patched[next]!))) next++;
  if (next < patched.length)
    throw new PatchError("failure", `The order in patch list:\n${goText(change)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`);
}

const wrongArgument = (value: JsonValue) =>
  new PatchError(
    "failure",
    `expected a []interface {}, but received a ${isObject(value) ? "map[string]interface {}" : value === null ? "%!s(<nil>)" : goKind(value)}`,
  );

/** Removes scalars from a list; on anything else the directive does nothing. */
function deleteFromList(target: JsonObject, name: string, removed: JsonValue): void {
  const current = target[name];
  if (removed === null) delete target[name];
  else if (Array.isArray(current) && Array.isArray(removed))
    setMember(
      target,
      name,
      current.filter((item) => !removed.some((gone) => deepEqual(gone, item))),
    );
}

function mergeMember({ target, patch, schema }: PendingMerge, key: string, queue: PendingMerge[]): void {
  const change = patch[key]!;
  const current = Object.hasOwn(target, key) ? target[key]! : undefined;
  if (change === null) {
    delete target[key];
  } else if (isObject(change) && isObject(current)) {
    const rules = fieldOf(schema, key);
    const merged = rules.strategy === "replace" ? deepCopy(change) : { ...current };
    setMember(target, key, merged);
    if (rules.strategy !== "replace") queue.push({ target: merged as JsonObject, patch: change, schema: rules.schema });
  } else if (Array.isArray(change) && Array.isArray(current)) {
    const { items, mergeKey, isMerged } = listRules(schema, key);
    setMember(target, key, isMerged ? mergeList({ original: current, patch: change, schema: items, mergeKey }, queue) : deepCopy(change));
  } else if (isObject(change) || Array.isArray(change)) {
    const value = withoutDirectives(withoutNulls(change));
    if (value === undefined) delete target[key];
    else setMember(target, key, value);
  } else {
    setMember(target, key, change);
  }
}

/** A copy without the maps that carry `$patch`; undefined when the value itself is one. Does not recurse. */
function withoutDirectives(value: JsonValue): JsonValue | undefined {
  if (isDirective(value)) return undefined;
  const copy = deepCopy(value);
  const pending: JsonValue[] = [copy];
  while (pending.length > 0) {
    const next = pending.pop()!;
    if (Array.isArray(next)) {
      const kept = next.filter((item) => !isDirective(item));
      next.splice(0, next.length, ...kept);
      for (const item of kept) pending.push(item);
    } else if (isObject(next)) {
      for (const [key, member] of Object.entries(next)) {
        if (isDirective(member)) delete next[key];
        else pending.push(member);
      }
    }
  }
  return copy;
}

const isDirective = (value: JsonValue) => isObject(value) && Object.hasOwn(value, patchDirective);

interface FieldRules {
  readonly schema: Schema;
  /** `merge`, `replace`, or empty. */
  readonly strategy: string;
  readonly mergeKey: string;
}

function listRules(schema: Schema, name: string): { items: Schema; mergeKey: string; isMerged: boolean } {
  const field = fieldOf(schema, name);
  return { items: field.schema.shape === "list" ? field.schema.items : field.schema, mergeKey: field.mergeKey, isMerged: field.strategy === "merge" };
}

/** How the member `name` of a value of `schema` is merged. */
function fieldOf(schema: Schema, name: string): FieldRules {
  if (schema.shape === "map") return { schema: schema.values, strategy: "", mergeKey: "" };
  const field = schema.shape === "struct" ? schema.fields.get(name) : undefined;
  if (field === undefined) throw new PatchError("failure", `unable to find api field in struct ${typeName(schema)} for the json field ${JSON.stringify(name)}`);
  return { schema: field.schema, strategy: strategyOf(field), mergeKey: field.patchMergeKey ?? "" };
}

const strategyOf = (field: FieldSchema) => field.patchStrategy.find((strategy) => strategy !== "retainKeys") ?? "";
const typeName = (schema: Schema) => schema.goName.slice(schema.goName.lastIndexOf(".") + 1);
