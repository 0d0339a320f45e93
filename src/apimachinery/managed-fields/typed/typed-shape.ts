/**
 * How server-side apply sees a value of a schema: as a map whose members are owned one by one, as an associative list, or as a leaf that is
 * owned whole. Free-form JSON (fields of custom resources that no schema declares) is seen by its values: objects are maps, lists and
 * scalars are leaves.
 */
import { isObject } from "../../json.ts";
import type { JsonValue } from "../../json.ts";
import type { ListSchema, Schema } from "../../schema.ts";

export type Shape = "map" | "list" | "leaf";

/** The shape of `value` (undefined: absent). */
export function shapeOf(schema: Schema, value: JsonValue | undefined): Shape {
  switch (schema.shape) {
    case "struct":
    case "map":
      return schema.isAtomic ? "leaf" : "map";
    case "list":
      return schema.listType === "atomic" ? "leaf" : "list";
    case "scalar":
      return isFreeForm(schema) && schema !== deepest && isObject(value) ? "map" : "leaf";
  }
}

/** The schema of the member `name`; undefined when the schema does not know it. */
export function memberSchema(schema: Schema, name: string): Schema | undefined {
  switch (schema.shape) {
    case "struct":
      return schema.fields.get(name)?.schema ?? schema.unknownFields;
    case "map":
      return schema.values;
    default:
      return isFreeForm(schema) ? deeper(schema) : undefined;
  }
}

/** The schema of the items of a list; a list in free-form JSON is a leaf, so that this is asked of list schemas only. */
export function itemSchema(schema: Schema): Schema {
  return (schema as ListSchema).items;
}

/** Whether `name` is a declared field, as opposed to a key of a map. */
export function isDeclaredField(schema: Schema, name: string): boolean {
  return schema.shape === "struct" && schema.fields.has(name);
}

/** JSON of any kind. The special types (RawExtension, …) are owned whole. */
export function isFreeForm(schema: Schema): boolean {
  return schema.shape === "scalar" && schema.scalar === "json" && schema.special === undefined;
}

/** Free-form JSON for members that no schema declares. */
export const freeForm: Schema = { shape: "scalar", scalar: "json", goName: "interface {}" };

/** Below this nesting, free-form JSON is owned whole: hostile depth must not make the walkers recurse. */
const maxFreeFormDepth = 200;
const levels: readonly Schema[] = Array.from({ length: maxFreeFormDepth }, () => ({ ...freeForm }));
const deepest = levels.at(-1)!;
const next: ReadonlyMap<Schema, Schema> = new Map(levels.map((level, index) => [level, levels[index + 1] ?? deepest]));

function deeper(schema: Schema): Schema {
  return next.get(schema) ?? levels[0]!;
}
