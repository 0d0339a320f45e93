/**
 * Elements of field paths as FieldsV1 writes them: `f:name` (a member of a map), `k:{"name":"c"}` (a list item by its keys),
 * `v:"text"` (an item of a set by its value), `i:0` (by its index; read, never made).
 */
import { isObject, isRawNumber, rawNumber } from "../../json.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import type { ListSchema } from "../../schema.ts";
import { memberNode } from "./field-set.ts";
import type { FieldSet } from "./field-set.ts";

/** The element of an item of an associative list, or why it has none. */
export function itemElement(item: JsonValue, list: ListSchema): { element: string } | { fault: string } {
  return list.listType === "set" ? setElement(item) : keyedElement(item, list);
}

/** A path as conflicts and errors show it: `.spec.containers[name="c"].image`, `.metadata.finalizers[="e.com/f"]`. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join("");
}

export function elementText(element: string): string {
  const body = element.slice(2);
  switch (element[0]) {
    case "k":
      return `[${Object.entries(JSON.parse(body) as JsonObject)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(",")}]`;
    case "v":
      return `[=${body}]`;
    case "i":
      return `[${body}]`;
    default:
      return `.${body}`;
  }
}

/** Nesting that a set from outside may have. */
const maxDepth = 512;

/**
 * A set from a client's or a stored FieldsV1, in normal form; undefined when it is malformed. Elements of unknown kinds are left out, as a
 * newer version may know them. What is normal already is taken as it is: nobody may change `fields` afterwards.
 */
export function parseFields(fields: unknown, depth = 0): FieldSet | undefined {
  if (!isObject(fields) || depth > maxDepth) return undefined;
  let isItself = false;
  let hasChildren = false;
  /** Made when the first thing turns out not to be normal. */
  let copy: Record<string, FieldSet> | undefined;
  for (const element in fields) {
    const value = fields[element]!;
    if (element === ".") {
      isItself = true;
      if (depth === 0 || !isEmptyObject(value)) copy ??= membersBefore(fields, element);
      continue;
    }
    const normal = parseElement(element);
    if (normal === undefined) return undefined;
    const node = normal === "" ? undefined : parseFields(value, depth + 1);
    if (normal !== "" && node === undefined) return undefined;
    if (normal !== element || node !== (value as unknown)) copy ??= membersBefore(fields, element);
    if (node === undefined) continue;
    hasChildren = true;
    if (copy !== undefined) copy[normal] = node;
  }
  if (!hasChildren) return isEmptyObject(fields) ? (fields as unknown as FieldSet) : memberNode;
  if (copy === undefined) return fields as unknown as FieldSet;
  return isItself && depth > 0 ? { ".": memberNode, ...copy } : copy;
}

/** The members in front of `end`, all of them normal, without the node itself. */
function membersBefore(fields: JsonObject, end: string): Record<string, FieldSet> {
  const members: Record<string, FieldSet> = {};
  for (const element in fields) {
    if (element === end) break;
    if (element !== ".") members[element] = fields[element] as unknown as FieldSet;
  }
  return members;
}

function isEmptyObject(value: JsonValue): boolean {
  if (!isObject(value)) return false;
  for (const _ in value) return false;
  return true;
}

/** Most keys are one text without escapes: those are normal as they stand. */
const plainKey = /^k:\{"[A-Za-z]+":"[^"\\\u0000-\u001f\ud800-\udfff]*"\}$/;

/** Elements that took parsing: the same few come again and again. Bounded. */
const parsedElements = new Map<string, string | undefined>();
const parsedElementsLimit = 4096;

/** Empty for an unknown kind of element, undefined for a malformed one. */
function parseElement(element: string): string | undefined {
  if (element.length < 2) return undefined;
  if (element.startsWith("f:") || plainKey.test(element)) return element;
  if (parsedElements.has(element)) return parsedElements.get(element);
  const parsed = readElement(element);
  if (parsedElements.size >= parsedElementsLimit) parsedElements.clear();
  if (element.length <= 256) parsedElements.set(element, parsed);
  return parsed;
}

function readElement(element: string): string | undefined {
  const body = element.slice(2);
  if (element.startsWith("i:")) return /^-?\d+$/.test(body) ? element : undefined;
  if (!element.startsWith("k:") && !element.startsWith("v:")) return element[1] === ":" ? "" : undefined;
  const value = parseJson(body);
  if (element.startsWith("v:")) return value === undefined ? undefined : `v:${JSON.stringify(value)}`;
  return isObject(value) ? `k:${keyText(value, Object.keys(value))}` : undefined;
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text, (_key, value: JsonValue, context?: { source?: string }) =>
      typeof value === "number" && context?.source !== undefined && String(value) !== context.source ? (rawNumber(context.source) as JsonValue) : value,
    ) as JsonValue;
  } catch {
    return undefined;
  }
}

function keyText(object: JsonObject, names: readonly string[]): string {
  return `{${[...names]
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(object[name])}`)
    .join(",")}}`;
}

function setElement(item: JsonValue): { element: string } | { fault: string } {
  if (item === null) return { fault: "associative list without keys has an element that's an explicit null" };
  if (Array.isArray(item)) return { fault: "not supported: associative list with lists as elements" };
  if (typeof item === "object" && !isRawNumber(item)) return { fault: "associative list without keys has an element that's a map type" };
  return { element: `v:${JSON.stringify(item)}` };
}

/** Keys that the item leaves out count with their default; those without one are left out of the element. */
function keyedElement(item: JsonValue, list: ListSchema): { element: string } | { fault: string } {
  if (item === null) return { fault: "associative list with keys may not have a null element" };
  if (!isObject(item)) return { fault: "associative list with keys may not have non-map elements" };
  const found: JsonObject = {};
  for (const name of list.listMapKeys) {
    const value = Object.hasOwn(item, name) ? item[name] : keyDefault(list, name);
    if (value !== undefined) found[name] = value;
  }
  const names = Object.keys(found);
  if (names.length === 0) {
    const keys = list.listMapKeys.map((name) => JSON.stringify(name)).join(" ");
    return { fault: `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)` };
  }
  return { element: `k:${keyText(found, names)}` };
}

/** A key's declared default, else Go's zero value of a field that is always there. */
function keyDefault(list: ListSchema, name: string): JsonValue | undefined {
  const field = list.items.shape === "struct" ? list.items.fields.get(name) : undefined;
  if (field === undefined || field.defaultValue !== undefined) return field?.defaultValue as JsonValue | undefined;
  if (field.isPointer || field.omitEmpty || field.schema.shape !== "scalar") return undefined;
  if (field.schema.scalar === "string") return "";
  return field.schema.scalar === "bool" ? false : 0;
}
