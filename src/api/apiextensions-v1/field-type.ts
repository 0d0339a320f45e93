/** Where a path of simple names leads in a schema. */
import type { JSONSchemaProps } from "./types.ts";

/** Type of the field that `.a.b` names, or why there is none. */
export function fieldTypeAt(schema: JSONSchemaProps, jsonPath: string): { readonly type: string } | { readonly fault: string } {
  if (/\[(?:\d+|'|")?/.test(jsonPath)) return { fault: "array notation is not allowed" };
  if (!jsonPath.startsWith(".")) return { fault: "does not refer to a valid field" };
  let at: JSONSchemaProps | undefined = schema;
  for (const name of jsonPath.slice(1).split(".")) {
    at = at?.properties?.[name];
    if (at === undefined) return { fault: "does not refer to a valid field" };
  }
  return { type: at.type ?? "" };
}
