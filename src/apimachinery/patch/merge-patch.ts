/** JSON merge patch (RFC 7396) as the API server applies it. */
import { deepCopy, isObject, setMember } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { jsonKind } from "./go-text.ts";
import { PatchError } from "./patch-error.ts";

/**
 * The patched document; the arguments stay as they are. Null deletes a member; lists are replaced whole.
 * Throws `PatchError` `badRequest` when the patch is not an object.
 */
export function applyMergePatch(document: JsonObject, patch: JsonValue): JsonObject {
  if (patch === null) throw new PatchError("badRequest", "Invalid JSON Patch");
  if (!isObject(patch))
    throw new PatchError("badRequest", `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`);
  const result = { ...document };
  const pending: [target: JsonObject, patch: JsonObject][] = [[result, patch]];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [target, changes] = pair;
    for (const [key, change] of Object.entries(changes)) {
      const current = Object.hasOwn(target, key) ? target[key]! : null;
      if (change === null) {
        delete target[key];
      } else if (isObject(change) && isObject(current)) {
        const merged = { ...current };
        setMember(target, key, merged);
        pending.push([merged, change]);
      } else {
        // Upstream takes a list over an object as it stands, and everything else without the nulls of its maps.
        setMember(target, key, isObject(current) ? deepCopy(change) : withoutNulls(change));
      }
    }
  }
  return result;
}

/** A copy in which no map has a null member; nulls in lists stay. Does not recurse. */
export function withoutNulls(value: JsonValue): JsonValue {
  const copy = deepCopy(value);
  const pending: JsonValue[] = [copy];
  while (pending.length > 0) {
    const next = pending.pop()!;
    if (Array.isArray(next)) {
      for (const item of next) pending.push(item);
    } else if (isObject(next)) {
      for (const [key, member] of Object.entries(next)) {
        if (member === null) delete next[key];
        else pending.push(member);
      }
    }
  }
  return copy;
}
