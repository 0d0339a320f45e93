/**
 * JSON patch (RFC 6902) as the API server applies it, which is more lenient than the RFC: `replace` and `copy` accept a map key that is
 * not there, `add` without a value sets null, `test` takes null for absent, negative indexes count from the end.
 */
import { deepCopy, deepEqual, isObject, isRawNumber, setMember } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { jsonKind } from "./go-text.ts";
import { PatchError } from "./patch-error.ts";

/**
 * The patched document; the arguments stay as they are. `null` as the patch changes nothing.
 * Throws `PatchError`: `badRequest` when the patch is no list of operations, `tooLarge` above 10,000 operations, else `unprocessable`.
 */
export function applyJsonPatch(document: JsonValue, patch: JsonValue): JsonValue {
  const operations = decodeOperations(patch);
  if (operations.length > maxOperations)
    throw new PatchError("tooLarge", `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`);
  if (operations.length === 0) return document;
  const target: Target = { root: deepCopy(document), copiedBytes: 0 };
  for (const operation of operations) applyOperation(target, operation);
  return target.root;
}

/** Members that no operation has, as the warnings and strict errors name them: `json patch unknown field "[0].other"`. */
export function unknownJsonPatchFields(patch: JsonValue): string[] {
  if (!Array.isArray(patch)) return [];
  return patch.flatMap((operation, index) =>
    isObject(operation)
      ? Object.keys(operation).flatMap((name) => (operationFields.includes(name) ? [] : [`json patch unknown field "[${index}].${name}"`]))
      : [],
  );
}

const maxOperations = 10_000;
const maxCopiedBytes = 3 * 1024 * 1024;
const operationFields: readonly string[] = ["op", "from", "path", "value"];

interface Target {
  root: JsonValue;
  copiedBytes: number;
}
/** A container and the key in it that a pointer ends at. */
interface Place {
  readonly container: JsonValue[] | JsonObject;
  readonly key: string;
}

function decodeOperations(patch: JsonValue): JsonObject[] {
  if (patch === null) return [];
  if (!Array.isArray(patch))
    throw new PatchError("badRequest", `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type []handlers.jsonPatchOp`);
  return patch.map((operation) => {
    if (operation === null) return {};
    if (!isObject(operation))
      throw new PatchError("badRequest", `error decoding patch: json: cannot unmarshal ${jsonKind(operation)} into Go value of type handlers.jsonPatchOp`);
    for (const name of ["op", "from", "path"]) {
      const member = operation[name];
      if (member === undefined || member === null || typeof member === "string") continue;
      throw new PatchError(
        "badRequest",
        `error decoding patch: json: cannot unmarshal ${jsonKind(member)} into Go struct field jsonPatchOp.${name} of type string`,
      );
    }
    return operation;
  });
}

function applyOperation(target: Target, operation: JsonObject): void {
  switch (operation["op"]) {
    case "add":
      return addValue(find(target, textOf(operation, "path")), valueOf(operation));
    case "remove":
      return removeValue(find(target, textOf(operation, "path")), `error in remove for path: '${textOf(operation, "path")}': `);
    case "replace":
      return replaceValue(target, textOf(operation, "path"), valueOf(operation));
    case "move":
      return moveValue(target, operation);
    case "copy":
      return copyValue(target, operation);
    case "test":
      return testValue(target, textOf(operation, "path"), valueOf(operation));
    default:
      throw unprocessable(`Unexpected kind: ${typeof operation["op"] === "string" ? operation["op"] : "unknown"}`);
  }
}

function textOf(operation: JsonObject, name: "path" | "from"): string {
  const text = operation[name];
  if (typeof text !== "string") throw unprocessable(`operation missing ${name} field: missing value`);
  return text;
}

function valueOf(operation: JsonObject): JsonValue {
  return deepCopy(operation["value"] ?? null);
}

/** What stands before the first slash is lost; a pointer without a slash leads nowhere. */
function find(target: Target, pointer: string, missing = `doc is missing path: ${JSON.stringify(pointer)}`): Place {
  const parts = pointer.split("/").slice(1).map(unescapePart);
  const key = parts.pop();
  let container = target.root;
  for (const part of parts) {
    const next = isContainer(container) ? getMember({ container, key: part }) : undefined;
    if (next === undefined) throw unprocessable(missing);
    container = next;
  }
  if (key === undefined || !isContainer(container)) throw unprocessable(missing);
  return { container, key };
}

const isContainer = (value: JsonValue): value is JsonValue[] | JsonObject => Array.isArray(value) || isObject(value);
const unescapePart = (part: string) => part.replaceAll("~1", "/").replaceAll("~0", "~");
const unprocessable = (message: string) => new PatchError("unprocessable", message);

/** The value at a place; undefined for an absent map key. An index out of bounds is an error. */
function getMember({ container, key }: Place): JsonValue | undefined {
  if (Array.isArray(container)) return container[indexOf(key, container.length, container.length - 1)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

/** An index of 0 to `last`; negative ones count back from `base`. */
function indexOf(key: string, base: number, last: number): number {
  if (!/^[+-]?\d+$/.test(key)) throw unprocessable(`value was not a proper array index: '${key}'`);
  const index = Number(key);
  const resolved = index < 0 ? index + base : index;
  if (resolved < 0 || resolved > last) throw unprocessable(`Unable to access invalid index: ${index}`);
  return resolved;
}

function addValue({ container, key }: Place, value: JsonValue): void {
  if (!Array.isArray(container)) setMember(container, key, value);
  else if (key === "-") container.push(value);
  else container.splice(indexOf(key, container.length + 1, container.length), 0, value);
}

function removeValue({ container, key }: Place, faultPrefix = ""): void {
  if (Array.isArray(container)) {
    container.splice(indexOf(key, container.length, container.length - 1), 1);
    return;
  }
  if (!Object.hasOwn(container, key)) throw unprocessable(`${faultPrefix}Unable to remove nonexistent key: ${key}: missing value`);
  delete container[key];
}

function replaceValue(target: Target, pointer: string, value: JsonValue): void {
  if (pointer === "") {
    if (!isContainer(value)) throw unprocessable("replace operation value must be object or array");
    target.root = value;
    return;
  }
  const { container, key } = find(target, pointer, `replace operation does not apply: doc is missing path: ${pointer}: missing value`);
  if (Array.isArray(container)) container[indexOf(key, container.length, container.length - 1)] = value;
  else setMember(container, key, value);
}

function moveValue(target: Target, operation: JsonObject): void {
  const from = find(target, textOf(operation, "from"));
  const value = getMember(from) ?? null;
  removeValue(from);
  addValue(find(target, textOf(operation, "path")), value);
}

function copyValue(target: Target, operation: JsonObject): void {
  const value = getMember(find(target, textOf(operation, "from")));
  const place = find(target, textOf(operation, "path"));
  if (value !== undefined && value !== null) target.copiedBytes += jsonBytes(value);
  if (target.copiedBytes > maxCopiedBytes) {
    throw unprocessable(`Unable to complete the copy, the accumulated size increase of copy is ${target.copiedBytes}, exceeding the limit ${maxCopiedBytes}`);
  }
  addValue(place, deepCopy(value ?? null));
}

function testValue(target: Target, pointer: string, value: JsonValue): void {
  const actual = pointer === "" ? target.root : (getMember(find(target, pointer)) ?? null);
  if (!deepEqual(actual, value)) throw unprocessable(`testing value ${pointer} failed: test failed`);
}

/** Bytes of the compact encoding. Does not recurse. */
function jsonBytes(value: JsonValue): number {
  let bytes = 0;
  const pending: JsonValue[] = [value];
  while (pending.length > 0) {
    const next = pending.pop()!;
    if (!isContainer(next) || isRawNumber(next)) {
      bytes += Buffer.byteLength(JSON.stringify(next));
      continue;
    }
    const keys = Array.isArray(next) ? [] : Object.keys(next);
    const members = Array.isArray(next) ? next : Object.values(next);
    bytes += 2 + Math.max(0, members.length - 1);
    for (const key of keys) bytes += Buffer.byteLength(JSON.stringify(key)) + 1;
    for (const member of members) pending.push(member);
  }
  return bytes;
}
