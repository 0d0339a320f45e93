/**
 * The strategic merge patch that turns one pod status into another, as the kubelet sends it to `pods/status`: conditions are merged by
 * type, addresses by ip, all other lists are replaced. Pure.
 */
import { deepEqual } from "../../apimachinery/json.ts";
import type { DeepReadonly, JsonObject, JsonValue } from "../../apimachinery/json.ts";
import type { PodStatus } from "../../api/core-v1/types.ts";

/** Undefined when there is nothing to change. */
export function statusPatch(uid: string, before: DeepReadonly<PodStatus>, after: DeepReadonly<PodStatus>): JsonObject | undefined {
  const status = diffObject(before as JsonObject, after as JsonObject, mergeKeys);
  return Object.keys(status).length === 0 ? undefined : { metadata: { uid }, status };
}

/** API markers "patchMergeKey" of PodStatus. */
const mergeKeys: Readonly<Record<string, string>> = { conditions: "type", hostIPs: "ip", podIPs: "ip", resourceClaimStatuses: "name" };

function diffObject(before: JsonObject, after: JsonObject, keys: Readonly<Record<string, string>> = {}): JsonObject {
  const patch: JsonObject = {};
  for (const [name, value] of Object.entries(after)) {
    const old = before[name];
    if (old === undefined || old === null) {
      if (value !== null) patch[name] = value;
    } else if (deepEqual(old, value)) continue;
    else if (Array.isArray(value) && Array.isArray(old) && keys[name] !== undefined)
      Object.assign(patch, diffList(name, keys[name], old as JsonObject[], value as JsonObject[]));
    else if (isPlain(old) && isPlain(value)) patch[name] = diffObject(old, value);
    else patch[name] = value;
  }
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name) && before[name] !== null) patch[name] = null;
  return patch;
}

function diffList(name: string, key: string, before: readonly JsonObject[], after: readonly JsonObject[]): JsonObject {
  const changes: JsonObject[] = [];
  for (const item of after) {
    const old = before.find((candidate) => candidate[key] === item[key]);
    if (old === undefined) changes.push(item);
    else if (!deepEqual(old, item)) {
      const change = diffObject(old, item);
      if (Object.keys(change).length > 0) changes.push({ ...change, [key]: item[key]! });
    }
  }
  for (const item of before) if (!after.some((candidate) => candidate[key] === item[key])) changes.push({ $patch: "delete", [key]: item[key]! });
  if (changes.length === 0) return {};
  return { [`$setElementOrder/${name}`]: after.map((item) => ({ [key]: item[key]! })), [name]: changes };
}

function isPlain(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
