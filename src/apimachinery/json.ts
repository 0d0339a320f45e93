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
  return typeof value === "object" && value !== null && json.isRawJSON(value);
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

/** A copy that shares nothing mutable. Does not recurse: hostile depth is legal in custom resources. */
export function deepCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  const root = emptyLike(value);
  const pending: [source: object, target: object][] = [[value, root]];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [source, target] = pair;
    for (const key in source) {
      const member = (source as JsonObject)[key]!;
      if (typeof member !== "object" || member === null || isRawNumber(member)) {
        setMember(target as JsonObject, key, member);
        continue;
      }
      const copy = emptyLike(member);
      setMember(target as JsonObject, key, copy as JsonValue);
      pending.push([member, copy]);
    }
  }
  return root as T;
}

function emptyLike(value: object): object {
  return Array.isArray(value) ? [] : {};
}

/** Semantic equality of two JSON values; the order of members does not count. Does not recurse. */
export function deepEqual(left: unknown, right: unknown): boolean {
  const pending: [unknown, unknown][] = [[left, right]];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [a, b] = pair;
    if (a === b) continue;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (isRawNumber(a) || isRawNumber(b)) {
      if (!isRawNumber(a) || !isRawNumber(b) || a.rawJSON !== b.rawJSON) return false;
      continue;
    }
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(b, key)) return false;
      pending.push([(a as JsonObject)[key], (b as JsonObject)[key]]);
    }
  }
  return true;
}
