/** `fieldPath` of a rule: which member of its object it speaks of (`.spec.size`, `.map['key']`). */
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { isObject } from "../../../apimachinery/json.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";

/** The path below `base`, or undefined when the schema has no such member. Lists cannot be gone into. */
export function rulePath(text: string, schema: JsonObject, base: FieldPath): FieldPath | undefined {
  let path = base;
  let within: JsonObject = schema;
  let rest = text;
  while (rest !== "") {
    const step = /^(?:\.([A-Za-z_][\w-]*)|\['((?:[^'\\]|\\.)*)'\])/.exec(rest);
    if (step === null) return undefined;
    const name = step[1] ?? step[2]!;
    const properties = isObject(within["properties"]) ? within["properties"] : {};
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const { additionalProperties } = within;
    if (isObject(property)) {
      path = path.child(name);
      within = property;
    } else if (isObject(additionalProperties)) {
      path = path.key(name);
      within = additionalProperties;
    } else return undefined;
    rest = rest.slice(step[0].length);
  }
  return path;
}
