/**
 * Objects of any kind, made from nothing but its schema and a seed. Every field may be there or not; scalars take ordinary values and the
 * odd ones that encoders stumble over (empty, the bounds of their type, text beyond ASCII). What comes out is valid for the decoders;
 * the rules of validation are not asked.
 */
import { rawNumber, setMember } from "../../../src/apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../../src/apimachinery/json.ts";
import type { FieldSchema, ScalarKind, ScalarSchema, Schema, StructSchema } from "../../../src/apimachinery/schema.ts";
import { formatInstant } from "../../../src/apimachinery/time.ts";
import type { Random } from "../../../src/base/random.ts";

/** An object of the kind that `schema` describes; the caller sets `kind` and `apiVersion`. */
export function randomObject(schema: StructSchema, random: Random): JsonObject {
  return new Generator(random).struct(schema, 0);
}

class Generator {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  struct(schema: StructSchema, depth: number): JsonObject {
    const object: JsonObject = {};
    for (const field of schema.fields.values()) if (this.#has(field, depth)) object[field.name] = this.#value(field.schema, { field, struct: schema, depth });
    return object;
  }

  /** Deeper fields are rarer, so that types that contain themselves come to an end and objects stay small. */
  #has({ name, schema, protobufNumber }: FieldSchema, depth: number): boolean {
    const isScalar = schema.shape === "scalar";
    // The type of an object stands in its envelope; objects inside of others have none.
    const isType = protobufNumber === 0 && (name === "kind" || name === "apiVersion");
    if (isType || depth > deepest) return false;
    return this.#random.fraction() < (depth < 2 ? 0.7 : isScalar ? 0.4 : 0.8 / depth);
  }

  #value(schema: Schema, at: Place): JsonValue {
    const inner = { ...at, depth: at.depth + 1 };
    switch (schema.shape) {
      case "struct":
        return this.struct(schema, inner.depth);
      case "list":
        return this.#items(schema.items, inner);
      case "map":
        return this.#map(schema.values, inner);
      case "scalar":
        return this.#scalar(schema, at);
    }
  }

  #items(items: Schema, at: Place): JsonValue[] {
    return Array.from({ length: this.#random.integer(3) }, () => this.#value(items, at));
  }

  #map(values: Schema, at: Place): JsonObject {
    const map: JsonObject = {};
    for (let count = this.#random.integer(3); count > 0; count--) setMember(map, this.#pick(keys), this.#value(values, at));
    return map;
  }

  #scalar({ scalar, special }: ScalarSchema, at: Place): JsonValue {
    switch (scalar) {
      case "string":
        // Servers make them, and rely on their form.
        if (at.field.name === "uid") return "0f8fad5b-d9cb-469f-a165-70867728950e";
        return at.field.values.length > 0 ? this.#pick(at.field.values) : this.#pick(texts);
      case "bool":
        return this.#random.integer(2) === 1;
      case "float64":
        return this.#pick([0, 0.5, -1.25, 1e21, 1e-7, 123456789.125]);
      case "float32":
        return this.#pick([0, 0.5, -1.25]);
      case "bytes":
        return Buffer.from(this.#random.bytes(this.#random.integer(8))).toString("base64");
      case "time":
        return formatInstant({ seconds: this.#seconds(), nanos: 0 }, "time");
      case "microTime":
        return formatInstant({ seconds: this.#seconds(), nanos: this.#random.integer(1_000_000) * 1000 }, "microTime");
      case "quantity":
        return this.#pick(quantities);
      case "duration":
        return this.#pick(durations);
      case "intOrString":
        return this.#random.integer(2) === 0 ? this.#integer("int32") : this.#pick(["50%", "http", ""]);
      case "json":
        return this.#json(special, at);
      default:
        return this.#integer(scalar);
    }
  }

  #integer(kind: ScalarKind): JsonValue {
    const bound = bounds[kind]!;
    const text = this.#pick(["0", "1", String(this.#random.integer(2 ** 7)), ...bound]);
    return Number.isSafeInteger(Number(text)) ? Number(text) : rawNumber(text);
  }

  #json(special: string | undefined, at: Place): JsonValue {
    switch (special) {
      case "RawExtension":
        return { apiVersion: "example.com/v1", content: this.#anyJson(0), kind: "Thing" };
      case "FieldsV1":
        return { "f:spec": { "f:replicas": {}, 'k:{"name":"<a>"}': { ".": {} } } };
      case "JSONSchemaPropsOrArray":
        return this.#random.integer(2) === 0
          ? this.struct(at.struct, at.depth + 1)
          : [this.struct(at.struct, at.depth + 1), this.struct(at.struct, at.depth + 1)];
      case "JSONSchemaPropsOrBool":
        return this.#random.integer(2) === 0 ? this.struct(at.struct, at.depth + 1) : this.#random.integer(2) === 1;
      case "JSONSchemaPropsOrStringArray":
        return this.#random.integer(2) === 0 ? this.struct(at.struct, at.depth + 1) : [this.#pick(texts), "b"];
      default:
        return this.#anyJson(0);
    }
  }

  #anyJson(depth: number): JsonValue {
    switch (this.#random.integer(depth > 2 ? 3 : 5)) {
      case 0:
        return this.#pick(texts);
      case 1:
        return this.#pick([0, -1, 0.5, rawNumber("9007199254740993"), rawNumber("1.0")]);
      case 2:
        return this.#random.integer(2) === 1;
      case 3:
        return Array.from({ length: this.#random.integer(3) }, () => this.#anyJson(depth + 1));
      default:
        return { "<&>": this.#anyJson(depth + 1), a: this.#anyJson(depth + 1) };
    }
  }

  #seconds(): number {
    return this.#pick([0, 951_782_400, 4_102_444_799, this.#random.integer(2 ** 31)]);
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#random.integer(from.length)]!;
  }
}

/** Where a value stands: which field, and of what struct. */
interface Place {
  readonly field: FieldSchema;
  readonly struct: StructSchema;
  readonly depth: number;
}

const deepest = 8;
const texts = [
  "",
  "a",
  "default",
  "with space",
  'quote " and \\',
  "<html> & more",
  "line\nfeed\ttab",
  "Größe",
  "日本語",
  "🛶",
  "\u2028\u2029",
  "\u0000\u0001\u007f",
  "true",
  "1",
  "null",
  "~",
  "- a: b",
  "x".repeat(300),
];
const keys = ["a", "b.c/d", "app.kubernetes.io/name", "__proto__", "constructor", "ü", "🛶", "Z", ""];
const quantities = ["0", "1", "100m", "1500m", "128Mi", "1Gi", "5k", "300e18", "1n", "-2", "9223372036854775807"];
const durations = ["0s", "1ns", "100ms", "5s", "1m30s", "1h0m0s", "-3s", "87600h0m0s"];
const bounds: Partial<Record<ScalarKind, readonly string[]>> = {
  int32: ["-2147483648", "2147483647"],
  int64: ["-9223372036854775808", "9223372036854775807", "9007199254740993"],
  uint8: ["255"],
  uint16: ["65535"],
  uint32: ["4294967295"],
  uint64: ["18446744073709551615"],
};
