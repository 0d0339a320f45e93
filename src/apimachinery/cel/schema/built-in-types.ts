/** Types of the built-in kinds, from the API's own type registry. */
import type { ScalarKind, Schema, StructSchema } from "../../schema.ts";
import { boolType, bytesType, doubleType, intType, stringType, timestampType } from "../check/types.ts";
import type { CelType, StructType, StructTypeField } from "../check/types.ts";
import { declaredDyn, listOf, mapOf, maxTextLength, scalarOf } from "./declared-type.ts";
import type { DeclaredType } from "./declared-type.ts";
import { escapePropertyName } from "./property-names.ts";

/** The type of a built-in object. Types that refer to themselves do so without end: fields are made when they are first asked for. */
export function builtInType(schema: Schema): DeclaredType {
  switch (schema.shape) {
    case "scalar":
      return scalarTypes[schema.scalar];
    case "list":
      return listOf(builtInType(schema.items), undefined, schema.listType === "set" ? [] : schema.listType === "map" ? schema.listMapKeys : undefined);
    case "map":
      return mapOf(builtInType(schema.values));
    case "struct":
      return structType(schema);
  }
}

const text = scalarOf(stringType, 2, maxTextLength);
const integer = scalarOf(intType, 1);
const real = scalarOf(doubleType, 1);
const time = scalarOf(timestampType, 21, 32);

const scalarTypes: Readonly<Record<ScalarKind, DeclaredType>> = {
  string: text,
  bool: scalarOf(boolType, 4),
  int32: integer,
  int64: integer,
  uint8: integer,
  uint16: integer,
  uint32: integer,
  uint64: integer,
  float32: real,
  float64: real,
  bytes: scalarOf(bytesType, 2, maxTextLength),
  time,
  microTime: time,
  quantity: text,
  intOrString: declaredDyn,
  duration: text,
  json: declaredDyn,
};

const structTypes = new WeakMap<StructSchema, DeclaredType>();

function structType(schema: StructSchema): DeclaredType {
  const known = structTypes.get(schema);
  if (known !== undefined) return known;
  const fields = new LazyFields(schema);
  const type: StructType = {
    kind: "struct",
    name: schema.name,
    field: (name) => fields.typeField(name),
    celName: (jsonName) => escapePropertyName(jsonName) ?? jsonName,
  };
  const declared: DeclaredType = { type: type as CelType, fields, minSize: 2, maxElements: 0 };
  structTypes.set(schema, declared);
  return declared;
}

/** Fields by their names in CEL. */
class LazyFields extends Map<string, DeclaredType> {
  readonly #schema: StructSchema;
  readonly #jsonNames: ReadonlyMap<string, string>;

  constructor(schema: StructSchema) {
    super();
    this.#schema = schema;
    this.#jsonNames = new Map(
      [...schema.fields.keys()].flatMap((name): [string, string][] => {
        const escaped = escapePropertyName(name);
        return escaped === undefined ? [] : [[escaped, name]];
      }),
    );
  }

  override get(name: string): DeclaredType | undefined {
    const known = super.get(name);
    const jsonName = this.#jsonNames.get(name);
    if (known !== undefined || jsonName === undefined) return known;
    const type = builtInType(this.#schema.fields.get(jsonName)!.schema);
    this.set(name, type);
    return type;
  }

  typeField(name: string): StructTypeField | undefined {
    const declared = this.get(name);
    const jsonName = this.#jsonNames.get(name);
    if (declared === undefined || jsonName === undefined) return undefined;
    return jsonName === name ? { type: declared.type } : { type: declared.type, jsonName };
  }
}
