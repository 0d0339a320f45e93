/** What a conversion webhook may make of an object: everything but its type and metadata, of which only labels and annotations may change. Pure. */
import { FieldPath } from "../../../apimachinery/field-path.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { goJson, isObject } from "../../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../../apimachinery/json.ts";
import { validateLabels } from "../../../api/meta/labels.ts";
import { validateAnnotations } from "../../../api/meta/object-meta.ts";

export interface Expected {
  readonly original: JsonObject;
  readonly index: number;
  /** The version that was asked for. */
  readonly apiVersion: string;
}

/** `fault` says what was returned, such as `returned invalid object: …`; `isWhole`: it is told without naming the webhook in front of it. */
export type Checked = { readonly object: JsonObject } | { readonly fault: string; readonly isWhole?: boolean };

/** The object with the metadata that it had, and the labels and annotations of the answer. */
export function checkConverted(converted: JsonValue, { original, index, apiVersion }: Expected): Checked {
  const atIndex = (text: string) => ({ fault: `returned invalid object at index ${index}: ${text}` });
  if (!isObject(converted)) return atIndex(`invalid object type (expected an object, received ${goTypeName(converted)})`);
  const { apiVersion: given = "", kind = "" } = converted;
  if (kind === "") return { fault: `Object 'Kind' is missing in '${goJson(converted)}'`, isWhole: true };
  if (given !== apiVersion) return atIndex(`invalid groupVersion (expected ${apiVersion}, received ${String(given)})`);
  if (kind !== original["kind"]) return atIndex(`invalid kind (expected ${String(original["kind"])}, received ${String(kind)})`);
  const changed = identityFault(original, converted);
  if (changed !== undefined) return { fault: `returned invalid object: ${changed}` };
  const metadata = restoredMetadata(original, converted);
  return typeof metadata === "string" ? { fault: `returned invalid metadata: ${metadata}` } : { object: { ...converted, metadata } };
}

function identityFault(original: JsonObject, converted: JsonObject): string | undefined {
  const [before, after] = [metadataOf(original), metadataOf(converted)];
  for (const [name, shown] of [
    ["name", "name"],
    ["namespace", "namespace"],
    ["uid", "UID"],
  ] as const) {
    const [was, is] = [before[name] ?? "", after[name] ?? ""];
    if (was !== is) return `must have the same ${shown}: ${String(was)} != ${String(is)}`;
  }
  return undefined;
}

/** A webhook need not send what does not change: `metadata` that is no object has no name, which has been told. */
function metadataOf({ metadata }: JsonObject): JsonObject {
  return metadata !== undefined && isObject(metadata) ? metadata : {};
}

function restoredMetadata(original: JsonObject, converted: JsonObject): JsonObject | string {
  const { labels, annotations, ...kept } = metadataOf(original);
  const metadata: JsonObject = kept;
  for (const [name, before, validate] of [
    ["labels", labels, validateLabels],
    ["annotations", annotations, validateAnnotations],
  ] as const) {
    const after = metadataOf(converted)[name];
    if (after === undefined || after === null) continue;
    if (!isObject(after)) return `invalid metadata.${name} of type ${goTypeName(after)} in converted object`;
    for (const [key, value] of Object.entries(after))
      if (typeof value !== "string") return `metadata.${name}[${key}] must be a string, but is ${goTypeName(value)} in converted object`;
    const texts = after as Record<string, string>;
    const errors = isSame(before, texts) ? [] : validate(texts, FieldPath.root("metadata", name));
    if (errors.length > 0) return aggregated(errors);
    metadata[name] = texts;
  }
  return metadata;
}

/** What was accepted once need not be checked again. */
function isSame(before: JsonValue | undefined, after: Record<string, string>): boolean {
  const known = before !== undefined && isObject(before) ? before : {};
  return Object.keys(known).length === Object.keys(after).length && Object.entries(after).every(([key, value]) => known[key] === value);
}

function aggregated(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`;
}

function goTypeName(value: JsonValue): string {
  if (Array.isArray(value)) return "[]interface {}";
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "number":
      return Number.isInteger(value) ? "int64" : "float64";
    default:
      return value === null ? "<nil>" : "map[string]interface {}";
  }
}
