/**
 * Tells from an object's stored bytes that a selector does not select it, so that a list of few among many parses few: a label that must be
 * there, and the node of a pod, stand in the bytes as they are written in the selector. What passes is looked at properly.
 */
import { exactFieldValue } from "../../../apimachinery/selectors/field-selector.ts";
import type { FieldSelector } from "../../../apimachinery/selectors/field-selector.ts";
import type { LabelSelector } from "../../../apimachinery/selectors/label-selector.ts";
import type { StoredObject } from "../../cache/stored-object.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";

/** Whether an object may be selected. Objects that a webhook converts may always: their labels are its choice. */
export function byteFilter(definition: ResourceDefinition, selector: { labels: LabelSelector; fields: FieldSelector }): (stored: StoredObject) => boolean {
  if (definition.codec !== undefined) return () => true;
  const labels = selector.labels.requirements.flatMap(({ key, operator, values }) => {
    if (operator === "exists" || (positive.has(operator) && values.size > 1)) return [Buffer.from(`${JSON.stringify(key)}:`)];
    return positive.has(operator) ? [...values].map((value) => Buffer.from(`${JSON.stringify(key)}:${JSON.stringify(value)}`)) : [];
  });
  const node = exactFieldValue(selector.fields, "spec.nodeName") ?? "";
  const fields = node === "" ? undefined : Buffer.from(`"nodeName":${JSON.stringify(node)}`);
  return ({ bytes, notes }) =>
    // Field values that are known are cheaper to look at.
    (fields === undefined || notes?.fieldValues !== undefined || bytes.includes(fields)) && labels.every((label) => bytes.includes(label));
}

/** Operators that ask for one of their values. */
const positive: ReadonlySet<string> = new Set(["=", "==", "in"]);
