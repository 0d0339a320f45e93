/** Where a configuration sets something that is only replaced as a whole: policies may not, since they cannot see what they would undo. */
import { isObject } from "../../../apimachinery/json.ts";
import type { JsonValue } from "../../../apimachinery/json.ts";
import { itemSchema, memberSchema, shapeOf } from "../../../apimachinery/managed-fields/typed/typed-shape.ts";
import type { Schema } from "../../../apimachinery/schema.ts";

/** The path of the first such value, as `.spec.containers[0].command`. */
export function atomicPath(config: JsonValue, schema: Schema): string | undefined {
  if (!Array.isArray(config) && !isObject(config)) return undefined;
  if (shapeOf(schema, config) === "leaf") return "";
  const members: (readonly [step: string, value: JsonValue, schema: Schema | undefined])[] = Array.isArray(config)
    ? config.map((item, index) => [`[${index}]`, item, itemSchema(schema)])
    : Object.entries(config).map(([name, member]) => [`.${name}`, member, memberSchema(schema, name)]);
  for (const [step, value, inner] of members) {
    const found = inner === undefined ? undefined : atomicPath(value, inner);
    if (found !== undefined) return step + found;
  }
  return undefined;
}
