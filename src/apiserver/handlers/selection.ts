/** Label and field selectors of a list, watch or deletecollection. */
import { exactFieldValue, matchesFields, parseFieldSelector } from "../../apimachinery/selectors/field-selector.ts";
import type { FieldSelector } from "../../apimachinery/selectors/field-selector.ts";
import { matchesLabels, parseLabelSelector } from "../../apimachinery/selectors/label-selector.ts";
import type { LabelSelector } from "../../apimachinery/selectors/label-selector.ts";
import { badRequestError } from "../../apimachinery/status.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { readVersion } from "../registry/convert.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";

export interface Selection {
  /** Keys below this prefix come into question. */
  readonly keyPrefix: string;
  /** Set when the selectors leave at most one key. */
  readonly onlyKey: string | undefined;
  /** Whether there is nothing to test beside the key. */
  readonly isEverything: boolean;
  matches(stored: StoredObject): boolean;
}

/** Reads the selectors of a request. Throws 400. */
export function parseSelection(definition: ResourceDefinition, namespace: string, query: URLSearchParams, pathName = ""): Selection {
  const labels = readLabels(query);
  const fields = [...readFields(definition, query), ...(pathName === "" ? [] : [{ field: "metadata.name", isEqual: true, value: pathName }])];
  const exactName = exactFieldValue(fields, "metadata.name");
  const exactNamespace = exactFieldValue(fields, "metadata.namespace");
  const inNamespace = definition.isNamespaced ? namespace || (exactNamespace ?? "") : "";
  const isEverything = labels.requirements.length === 0 && fields.length === 0;
  return {
    keyPrefix: inNamespace === "" ? "" : `${inNamespace}/`,
    onlyKey: exactName === undefined || exactName === "" ? undefined : definition.isNamespaced ? (inNamespace === "" ? undefined : `${inNamespace}/${exactName}`) : exactName,
    isEverything,
    matches(stored) {
      if (isEverything) return true;
      const object = readVersion(definition, stored);
      return matchesLabels(labels, object.metadata.labels ?? {}) && matchesFieldLabels(fields, definition, object);
    },
  };
}

function readLabels(query: URLSearchParams): LabelSelector {
  const text = query.get("labelSelector") ?? "";
  try {
    return parseLabelSelector(text);
  } catch (error) {
    throw badRequestError(error instanceof Error ? error.message : String(error));
  }
}

function readFields(definition: ResourceDefinition, query: URLSearchParams): FieldSelector {
  const text = query.get("fieldSelector") ?? "";
  let fields: FieldSelector;
  try {
    fields = parseFieldSelector(text);
  } catch (error) {
    throw badRequestError(error instanceof Error ? error.message : String(error));
  }
  for (const { field } of fields) {
    if (!definition.fieldLabels.accepted.has(field)) throw badRequestError(definition.fieldLabels.refuse(field));
  }
  return fields;
}

function matchesFieldLabels(fields: FieldSelector, definition: ResourceDefinition, object: KubeObject): boolean {
  if (fields.length === 0) return true;
  const values: Record<string, string> = { "metadata.name": object.metadata.name ?? "", "metadata.namespace": object.metadata.namespace ?? "", ...definition.strategy?.selectableFields?.(object) };
  return matchesFields(fields, values);
}
