/** Fields of a custom resource that field selectors may name (documentation page "CustomResourceDefinitions: Selectable fields"). */
import { isRawNumber } from "../../apimachinery/json.ts";
import { parseJsonPath } from "../../apimachinery/json-path.ts";
import type { Json } from "../../apimachinery/json-path.ts";
import type { KubeObject } from "../../apimachinery/object.ts";

export interface SelectableField {
  /** As selectors write it: `spec.color`. */
  readonly label: string;
  valueOf(object: KubeObject): string;
}

export function selectableField(jsonPath: string): SelectableField {
  const path = parseJsonPath(jsonPath);
  return { label: jsonPath.replace(/^\./, ""), valueOf: (object) => textOf(path.find(object as unknown as Json)?.[0]) };
}

/** An absent field counts as an empty text. */
function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return isRawNumber(value) ? value.rawJSON : String(value);
}
