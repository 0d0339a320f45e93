/**
 * The annotation that client-side `kubectl apply` keeps. Server-side apply by the manager `kubectl` takes over what it says the client
 * applied, and keeps it up to date (documentation page "Server-Side Apply", upgrading from client-side apply).
 */
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import type { Schema } from "../schema.ts";
import { compare } from "./typed/compare.ts";
import { difference } from "./sets/field-set.ts";
import type { FieldSet } from "./sets/field-set.ts";
import { ownedFields } from "./typed/owned-fields.ts";
import { typedFaults } from "./typed/typed-faults.ts";

export const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

/** All annotations of an object together may have this many bytes. */
const maxAnnotationBytes = 256 * 1024;

/** Fields that the annotation shows to be the client's and unchanged since; undefined without a usable annotation. */
export function clientAppliedFields(live: JsonObject, schema: Schema, apiVersion: string): FieldSet | undefined {
  const text = annotationsOf(live)?.[lastAppliedAnnotation];
  if (typeof text !== "string" || text === "") return undefined;
  const applied = parseObject(text);
  if (applied === undefined || applied["apiVersion"] !== apiVersion || typedFaults(applied, schema) !== undefined) return undefined;
  const { added, modified, removed } = compare(applied, live, schema);
  return [modified, added, removed].reduce(difference, ownedFields(applied, schema));
}

/** `object` with the annotation set to `config`, when it has one; too large a value removes it. */
export function refreshLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  if (annotations === undefined || !annotations[lastAppliedAnnotation]) return object;
  const refreshed: JsonObject = { ...annotations, [lastAppliedAnnotation]: `${JSON.stringify(sortKeys(withoutAnnotation(config)))}\n` };
  const bytes = Object.entries(refreshed).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)), 0);
  if (bytes > maxAnnotationBytes) delete refreshed[lastAppliedAnnotation];
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), annotations: refreshed } };
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = object["metadata"];
  const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
  return isObject(annotations) ? annotations : undefined;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const annotations = annotationsOf(config);
  if (annotations === undefined || !(lastAppliedAnnotation in annotations)) return config;
  const { [lastAppliedAnnotation]: _, ...others } = annotations;
  return { ...config, metadata: { ...(config["metadata"] as JsonObject), annotations: others } };
}

/** Go prints maps with sorted keys. */
function sortKeys(value: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(value), (_key, member: unknown) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  ) as JsonObject;
}
