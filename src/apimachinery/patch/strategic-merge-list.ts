/** Lists in a strategic merge patch: which items stay, and in which order they end up. */
import { deepCopy, isObject } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { Schema } from "../schema.ts";
import { goKind, goText } from "./go-text.ts";
import { PatchError } from "./patch-error.ts";

/** Merges two lists of scalars as sets, two lists of maps by `mergeKey`; merges of items are added to `queue`. */
export function mergeList(lists: ListMerge, queue: PendingMerge[]): JsonValue[] {
  const { original, patch, mergeKey } = lists;
  if (original.length === 0 && patch.length === 0) return original;
  if (commonKind(original, patch) !== "map") return orderItems(distinct([...original, ...patch]), patch, original, "");
  if (mergeKey === "")
    throw new PatchError("failure", `cannot merge lists without merge key for ${lists.schema.goName.slice(lists.schema.goName.lastIndexOf(".") + 1)}`);
  const { kept, changes } = applyListDirectives(original as JsonObject[], patch as JsonObject[], mergeKey);
  const merged = mergeItems({ ...lists, original: kept, patch: changes }, queue);
  return orderItems(merged, changes, kept, mergeKey);
}

export interface ListMerge {
  readonly original: JsonValue[];
  readonly patch: JsonValue[];
  /** Of an item. */
  readonly schema: Schema;
  readonly mergeKey: string;
}

/** A map of the result that a map of the patch is still to be merged into. */
export interface PendingMerge {
  readonly target: JsonObject;
  readonly patch: JsonObject;
  readonly schema: Schema;
}

export const patchDirective = "$patch";

export function unknownDirective(directive: JsonValue, patch: JsonObject): PatchError {
  return new PatchError("failure", `unknown patch type: ${typeof directive === "string" ? directive : goText(directive)} in map: ${goText(patch)}`);
}

/**
 * Puts `items` into order: those that `order` names in its sequence, the others in the sequence of `server`. Both sequences are kept; where
 * they meet, an unnamed item goes in front of a named one only if it stood before it in `server`.
 */
export function orderItems(items: JsonValue[], order: JsonValue[], server: JsonValue[], mergeKey: string): JsonValue[] {
  const orderPlaces = places(order, mergeKey);
  const serverPlaces = places(server, mergeKey);
  const placed = items.map((item) => {
    const identity = identityOf(item, mergeKey);
    return { item, orderPlace: orderPlaces.get(identity), serverPlace: serverPlaces.get(identity) ?? Number.POSITIVE_INFINITY };
  });
  const named = placed.filter((entry) => entry.orderPlace !== undefined).sort((a, b) => a.orderPlace! - b.orderPlace!);
  const unnamed = placed
    .filter((entry) => entry.orderPlace === undefined)
    .sort((a, b) => (a.serverPlace === b.serverPlace ? 0 : a.serverPlace - b.serverPlace));
  const result: JsonValue[] = [];
  let next = 0;
  for (const entry of named) {
    const isKnown = entry.serverPlace !== Number.POSITIVE_INFINITY;
    while (isKnown && next < unnamed.length && unnamed[next]!.serverPlace < entry.serverPlace) result.push(unnamed[next++]!.item);
    result.push(entry.item);
  }
  return [...result, ...unnamed.slice(next).map((entry) => entry.item)];
}

/** The first place of each item. */
function places(list: JsonValue[], mergeKey: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const identity = identityOf(item, mergeKey);
    if (!found.has(identity)) found.set(identity, index);
  }
  return found;
}

/** What tells items of a list apart: the value of the merge key, or without one the value itself. */
function identityOf(item: JsonValue, mergeKey: string): string {
  const value = mergeKey === "" ? item : keyOf(item, mergeKey);
  return value === null ? "nil" : `${goKind(value)} ${goText(value)}`;
}

function keyOf(item: JsonValue, mergeKey: string): JsonValue {
  if (!isObject(item) || !Object.hasOwn(item, mergeKey))
    throw new PatchError("failure", `map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
  return item[mergeKey]!;
}

/** The kind that all items share. */
function commonKind(original: JsonValue[], patch: JsonValue[]): string {
  let kind: string | undefined;
  for (const item of [...original, ...patch]) {
    const next = item === null ? "nil" : goKind(item);
    if (next === "slice" && kind === undefined) throw new PatchError("unprocessable", "lists of lists are not supported");
    if (kind !== undefined && kind !== next) throw new PatchError("failure", `list element types are not identical: ${goText([original, patch])}`);
    kind = next;
  }
  return kind ?? "nil";
}

function distinct(items: JsonValue[]): JsonValue[] {
  return [...places(items, "").values()].map((index) => items[index]!);
}

/** Works off items with `$patch`: `delete` drops the item of that key, `replace` anywhere puts the patch's other items in place of all. */
function applyListDirectives(original: JsonObject[], patch: JsonObject[], mergeKey: string): { kept: JsonObject[]; changes: JsonObject[] } {
  const deleted = new Set<string>();
  let replaces = false;
  const changes = patch.filter((item) => !Object.hasOwn(item, patchDirective));
  for (const item of patch) {
    if (!Object.hasOwn(item, patchDirective)) continue;
    const directive = item[patchDirective]!;
    if (directive === "delete") deleted.add(identityOf(item, mergeKey));
    else if (directive === "replace") replaces = true;
    else if (directive === "merge") throw new PatchError("failure", "merging lists cannot yet be specified in the patch");
    else throw unknownDirective(directive, item);
  }
  if (replaces) return { kept: changes.map((item) => deepCopy(item)), changes: [] };
  return { kept: original.filter((item) => deleted.size === 0 || !deleted.has(identityOf(item, mergeKey))), changes };
}

function mergeItems({ original, patch, schema, mergeKey }: ListMerge, queue: PendingMerge[]): JsonValue[] {
  const merged = [...original];
  const found = places(merged, mergeKey);
  const copied = new Set<number>();
  for (const item of patch as JsonObject[]) {
    const identity = identityOf(item, mergeKey);
    const index = found.get(identity);
    if (index === undefined) {
      found.set(identity, merged.length);
      copied.add(merged.length);
      merged.push(deepCopy(item));
      continue;
    }
    const target = copied.has(index) ? (merged[index] as JsonObject) : { ...(merged[index] as JsonObject) };
    copied.add(index);
    merged[index] = target;
    queue.push({ target, patch: item, schema });
  }
  return merged;
}
