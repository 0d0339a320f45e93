/** JSON values as the API machinery holds them. */

/**
 * A number whose text must survive: an integer above 2^53, or `1.0` in a custom resource. Made by `JSON.rawJSON`, printed by
 * `JSON.stringify` as it was written.
 */
export interface RawNumber {
  readonly rawJSON: string;
}

export type JsonScalar = string | number | boolean | null | RawNumber;
export type JsonValue = JsonScalar | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** A value that nobody may change, all the way down. */
export type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

const json = JSON as typeof JSON & { rawJSON(text: string): RawNumber; isRawJSON(value: unknown): value is RawNumber };

export function rawNumber(text: string): RawNumber {
  return json.rawJSON(text);
}

export function isRawNumber(value: unknown): value is RawNumber {
  // The engine is asked only about what can be one: a call of it costs more than a look at the member.
  return typeof value === "object" && value !== null && (value as RawNumber).rawJSON !== undefined && json.isRawJSON(value);
}

/** JSON text of a value however deep: `JSON.stringify` recurses, and what of the stack it may use is not known beforehand. */
export function jsonTextOf(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return deepText(value);
  }
}

function deepText(root: JsonValue): string {
  const parts: string[] = [];
  /** What is still to be written, the next thing last: values, and texts between them. */
  const pending: ({ readonly value: JsonValue } | string)[] = [{ value: root }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string") {
      parts.push(next);
      continue;
    }
    const { value } = next;
    if (typeof value !== "object" || value === null || isRawNumber(value)) parts.push(JSON.stringify(value));
    else if (Array.isArray(value)) {
      parts.push("[");
      pending.push("]");
      for (let index = value.length - 1; index >= 0; index--) pending.push({ value: value[index]! }, index > 0 ? "," : "");
    } else {
      parts.push("{");
      pending.push("}");
      for (const [index, name] of Object.keys(value).entries().toArray().toReversed())
        pending.push({ value: value[name]! }, `${index > 0 ? "," : ""}${JSON.stringify(name)}:`);
    }
  }
  return parts.join("");
}

/** JSON text as Go's encoder writes it: `<`, `>`, `&` and the line separators of Unicode are escaped. */
export function goJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent);
  return htmlCharacters.test(text) ? text.replace(allHtmlCharacters, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`) : text;
}

const htmlCharacters = /[<>&\u2028\u2029]/;
const allHtmlCharacters = new RegExp(htmlCharacters, "g");

/** The number behind a value, as near as a float comes to it. */
export function numberOf(value: number | RawNumber): number {
  return typeof value === "number" ? value : Number(value.rawJSON);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** Sets a member whatever its name is (`__proto__` too). */
export function setMember(object: JsonObject, key: string, value: JsonValue): void {
  if (key === "__proto__") Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** The names of members in UTF-16 order; most objects have them so already. */
export function sortedKeys(object: object): string[] {
  const keys = Object.keys(object);
  for (let index = 1; index < keys.length; index++) if (keys[index - 1]! > keys[index]!) return keys.sort();
  return keys;
}

/** Members in the order of their names, on every level: how Go prints what has no type. Does not recurse. */
export function sortedMembers(object: JsonObject): JsonObject {
  const root: JsonValue[] = [object];
  const pending: (JsonObject | JsonValue[])[] = [root];
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    for (const key of Object.keys(container)) {
      const member = (container as JsonObject)[key]!;
      if (typeof member !== "object" || member === null || isRawNumber(member)) continue;
      const copy: JsonObject | JsonValue[] = Array.isArray(member) ? [...member] : {};
      if (!Array.isArray(copy)) for (const name of Object.keys(member).sort()) setMember(copy, name, (member as JsonObject)[name]!);
      if (Array.isArray(container)) container[Number(key)] = copy;
      else setMember(container, key, copy);
      pending.push(copy);
    }
  }
  return root[0] as JsonObject;
}

/** Levels that are recursed into at once, several times as fast as a stack of our own; what lies deeper waits there, since hostile depth is legal. */
const levelsAtOnce = 200;

/** A copy that shares nothing mutable, of any depth. */
export function deepCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  const root = emptyLike(value);
  const deeper: Copy[] = [{ source: value as JsonObject, target: root }];
  for (let next = deeper.pop(); next !== undefined; next = deeper.pop()) fill(next, 0, deeper);
  return root as T;
}

interface Copy {
  readonly source: JsonObject | JsonValue[];
  readonly target: JsonObject | JsonValue[];
}

function fill({ source, target }: Copy, level: number, deeper: Copy[]): void {
  if (Array.isArray(source)) for (const item of source) (target as JsonValue[]).push(copied(item, level, deeper));
  else for (const key in source) setMember(target as JsonObject, key, copied(source[key]!, level, deeper));
}

function copied(value: JsonValue, level: number, deeper: Copy[]): JsonValue {
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  const copy = { source: value, target: emptyLike(value) };
  if (level === levelsAtOnce) deeper.push(copy);
  else fill(copy, level + 1, deeper);
  return copy.target;
}

function emptyLike(value: object): JsonObject | JsonValue[] {
  return Array.isArray(value) ? [] : {};
}

/** Semantic equality of two JSON values of any depth; the order of members does not count. */
export function deepEqual(left: unknown, right: unknown): boolean {
  const deeper: (readonly [unknown, unknown])[] = [[left, right]];
  for (let next = deeper.pop(); next !== undefined; next = deeper.pop()) if (!areEqual(next[0], next[1], 0, deeper)) return false;
  return true;
}

/** Whether they are equal as far down as is looked at once; what is deeper is added to `deeper`. */
function areEqual(left: unknown, right: unknown, level: number, deeper: (readonly [unknown, unknown])[]): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (level === levelsAtOnce) return deeper.push([left, right]) > 0;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => areEqual(item, right[index], level + 1, deeper));
  }
  if (Array.isArray(right)) return false;
  if (isRawNumber(left) || isRawNumber(right)) return isRawNumber(left) && isRawNumber(right) && left.rawJSON === right.rawJSON;
  return haveEqualMembers(left as JsonObject, right as JsonObject, level, deeper);
}

function haveEqualMembers(left: JsonObject, right: JsonObject, level: number, deeper: (readonly [unknown, unknown])[]): boolean {
  let members = 0;
  for (const key in left) {
    if (!Object.hasOwn(right, key) || !areEqual(left[key], right[key], level + 1, deeper)) return false;
    members++;
  }
  for (const _ in right) members--;
  return members === 0;
}
