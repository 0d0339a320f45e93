/** What a write changed, as sets of fields. */
import { deepEqual, isObject } from "../../json.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import type { ListSchema, Schema } from "../../schema.ts";
import { emptySet, isEmptySet, makeNode, memberNode, recursiveDifference } from "../sets/field-set.ts";
import type { FieldSet } from "../sets/field-set.ts";
import { itemElement } from "../sets/path-element.ts";
import { itemSchema, memberSchema, shapeOf } from "./typed-shape.ts";

/** Compares two objects of one schema. Maps and associative lists count themselves when they come or go, beside their content. */
export function compare(left: JsonObject, right: JsonObject, schema: Schema): Comparison {
  const change = compareMaps(left, right, schema);
  return { added: change?.added ?? emptySet, modified: change?.modified ?? emptySet, removed: change?.removed ?? emptySet };
}

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** The comparison without the fields of `ignored` and what lies below them. */
export function withoutFields(comparison: Comparison, ignored: FieldSet): Comparison {
  if (isEmptySet(ignored)) return comparison;
  return {
    added: recursiveDifference(comparison.added, ignored),
    modified: recursiveDifference(comparison.modified, ignored),
    removed: recursiveDifference(comparison.removed, ignored),
  };
}

export function isSameObject(comparison: Comparison): boolean {
  return isEmptySet(comparison.added) && isEmptySet(comparison.modified) && isEmptySet(comparison.removed);
}

/** Nodes of the three sets at one path; absent where nothing changed. */
interface Change {
  added?: FieldSet;
  modified?: FieldSet;
  removed?: FieldSet;
}
type Kind = keyof Change;

/** Absent is undefined; null is a value. Not both are absent. */
function compareValues(left: JsonValue | undefined, right: JsonValue | undefined, schema: Schema): Change | undefined {
  if (left === right) return undefined;
  const leftShape = shapeOf(schema, left);
  const rightShape = shapeOf(schema, right);
  if (left !== undefined && right !== undefined && leftShape !== rightShape) {
    // Free-form JSON that turned from an object into something else, or back: the members come or go, and the place itself is modified
    // (unless it is null, which counts as an empty object).
    const members = compareMaps(leftShape === "map" ? (left as JsonObject) : undefined, rightShape === "map" ? (right as JsonObject) : undefined, schema);
    return left === null || right === null ? members : { ...members, modified: makeNode(true, members?.modified)! };
  }
  const shape = left === undefined ? rightShape : leftShape;
  if (shape === "leaf" || (isVoid(left) && isVoid(right))) return compareLeaves(left, right);
  const change = shape === "map" ? compareMaps(asMap(left), asMap(right), schema) : compareLists(asList(left), asList(right), schema as ListSchema);
  if (left === undefined) return { ...change, added: makeNode(true, change?.added)! };
  if (right === undefined) return { ...change, removed: makeNode(true, change?.removed)! };
  return change;
}

/** Absent, null, empty: two such values are compared as leaves, so that null and empty differ. */
function isVoid(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (!isObject(value)) return false;
  for (const _ in value) return false;
  return true;
}

const asMap = (value: JsonValue | undefined) => (isObject(value) ? value : undefined);
const asList = (value: JsonValue | undefined) => (Array.isArray(value) ? value : undefined);

function compareLeaves(left: JsonValue | undefined, right: JsonValue | undefined): Change | undefined {
  if (left === undefined) return { added: memberNode };
  if (right === undefined) return { removed: memberNode };
  return deepEqual(left, right) ? undefined : { modified: memberNode };
}

function compareMaps(left: JsonObject | undefined, right: JsonObject | undefined, schema: Schema): Change | undefined {
  let change: Change | undefined;
  if (left !== undefined) {
    for (const name in left) {
      const other = right !== undefined && Object.hasOwn(right, name) ? right[name] : undefined;
      const member = memberChange(left[name], other, schema, name);
      if (member !== undefined) change = collect(change, `f:${name}`, member);
    }
  }
  if (right !== undefined) {
    for (const name in right) {
      if (left !== undefined && Object.hasOwn(left, name)) continue;
      const member = memberChange(undefined, right[name], schema, name);
      if (member !== undefined) change = collect(change, `f:${name}`, member);
    }
  }
  return change;
}

function memberChange(left: JsonValue | undefined, right: JsonValue | undefined, schema: Schema, name: string): Change | undefined {
  if (left === right) return undefined;
  const member = memberSchema(schema, name);
  return member === undefined ? undefined : compareValues(left, right, member);
}

function collect(change: Change | undefined, element: string, child: Change): Change {
  const result = change ?? {};
  for (const kind in child) {
    const node = child[kind as Kind];
    if (node !== undefined) ((result[kind as Kind] ??= {}) as Record<string, FieldSet>)[element] = node;
  }
  return result;
}

function compareLists(left: JsonValue[] | undefined, right: JsonValue[] | undefined, schema: ListSchema): Change | undefined {
  if (left !== undefined && right !== undefined && deepEqual(left, right)) return undefined;
  const leftItems = itemsByElement(left ?? [], schema);
  const rightItems = itemsByElement(right ?? [], schema);
  let change: Change | undefined;
  for (const element of new Set([...leftItems.keys(), ...rightItems.keys()])) {
    const item = compareItems(leftItems.get(element) ?? [], rightItems.get(element) ?? [], itemSchema(schema));
    if (item !== undefined) change = collect(change, element, item);
  }
  return change;
}

/** Items that cannot be told apart are kept together. Those that have no element are left out. */
function itemsByElement(list: JsonValue[], schema: ListSchema): Map<string, JsonValue[]> {
  const items = new Map<string, JsonValue[]>();
  for (const item of list) {
    const found = itemElement(item, schema);
    if ("fault" in found) continue;
    const same = items.get(found.element);
    if (same === undefined) items.set(found.element, [item]);
    else same.push(item);
  }
  return items;
}

/** Duplicates are compared as one atomic list. */
function compareItems(left: JsonValue[], right: JsonValue[], schema: Schema): Change | undefined {
  if (left.length <= 1 && right.length <= 1) return compareValues(left[0], right[0], schema);
  if (left.length >= 2 && right.length >= 2) return deepEqual(left, right) ? undefined : { modified: memberNode };
  if (left.length >= 2) {
    const added = right.length === 0 ? undefined : compareValues(undefined, right[0], schema);
    return { ...added, removed: memberNode };
  }
  const removed = left.length === 0 ? undefined : compareValues(left[0], undefined, schema);
  return { ...removed, added: memberNode };
}
