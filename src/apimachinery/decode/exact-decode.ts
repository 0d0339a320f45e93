/**
 * Fits an exactly parsed body to a type, as Go's decoder does: unknown and duplicate members are noted in document order, the first value
 * of a wrong type is remembered and thrown at the end, a special type's own error is thrown at once. Uses an explicit stack.
 */
import { rawNumber, setMember } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { FieldSchema, ListSchema, MapSchema, ScalarSchema, Schema, StructSchema } from "../schema.ts";
import { DecodeError } from "./decode-error.ts";
import { ExactMembers, NumberText, floatValue, plainValue } from "./exact-parser.ts";
import type { ExactNode } from "./exact-parser.ts";
import { base64Text, fitsInteger, isIntegerKind, quantityText, timeText } from "./scalars.ts";

/** The object of type `schema` in `root`, and the strict faults. Throws a `DecodeError`. */
export function decodeExact(root: ExactNode, schema: StructSchema): { object: JsonObject; faults: string[] } {
  return new ExactDecoder().decode(root, schema);
}

/** Faults beyond this many are not kept. */
export const maxFaults = 100;

/** Strict faults in document order, each text once. */
export class FaultList {
  readonly #texts = new Set<string>();

  unknown(path: string): void {
    this.#add(`unknown field ${JSON.stringify(path)}`);
  }
  duplicate(path: string): void {
    this.#add(`duplicate field ${JSON.stringify(path)}`);
  }
  #add(text: string): void {
    if (this.#texts.size < maxFaults) this.#texts.add(text);
  }
  get texts(): string[] {
    return [...this.#texts];
  }
}

/** Where a value stands, as type errors tell it: the innermost Go struct, and the path of fields without list indexes and map keys. */
interface Context {
  readonly struct: string;
  readonly field: string;
  /** Inside a special type: its errors name the struct around it and are thrown at once, and its faults are not noted. */
  readonly isSpecial: boolean;
}

/** A container whose members are being decoded. */
interface Frame {
  readonly node: ExactMembers | ExactNode[];
  readonly schema: StructSchema | MapSchema | ListSchema;
  readonly target: JsonObject | JsonValue[];
  readonly path: string;
  readonly context: Context;
  /** The innermost struct, which is what the special schema types hold. */
  readonly struct: StructSchema;
  readonly seen: Set<string>;
  next: number;
}

/** A place for one value. */
interface Slot {
  readonly target: JsonObject | JsonValue[];
  readonly key: string | number;
  readonly path: string;
  readonly context: Context;
  readonly struct: StructSchema;
  /** Whether it is a field of that struct, not an element of a list or map. */
  readonly isField: boolean;
}

class ExactDecoder {
  readonly #faults = new FaultList();
  readonly #open: Frame[] = [];
  #typeError: DecodeError | undefined;

  decode(root: ExactNode, schema: StructSchema): { object: JsonObject; faults: string[] } {
    const holder: JsonValue[] = [];
    this.#value(root, schema, { target: holder, key: 0, path: "", context: { struct: "", field: "", isSpecial: false }, struct: schema, isField: false });
    for (let frame = this.#open.at(-1); frame !== undefined; frame = this.#open.at(-1)) this.#step(frame);
    if (this.#typeError !== undefined) throw this.#typeError;
    return { object: (holder[0] as JsonObject | null | undefined) ?? {}, faults: this.#faults.texts };
  }

  /** Decodes the next member of a container, or closes it. */
  #step(frame: Frame): void {
    const { node, schema } = frame;
    const index = frame.next++;
    if (index >= (Array.isArray(node) ? node.length : node.keys.length)) this.#open.pop();
    else if (Array.isArray(node)) this.#item(frame, node[index]!, index);
    else if (schema.shape === "struct") this.#field(frame, schema, node.keys[index]!, node.values[index]!);
    else this.#entry(frame, schema as MapSchema, node.keys[index]!, node.values[index]!);
  }

  #item(frame: Frame, node: ExactNode, index: number): void {
    const { items } = frame.schema as ListSchema;
    (frame.target as JsonValue[])[index] = zeroValue(items);
    this.#value(node, items, {
      target: frame.target,
      key: index,
      path: `${frame.path}[${index}]`,
      context: frame.context,
      struct: frame.struct,
      isField: false,
    });
  }

  #entry(frame: Frame, schema: MapSchema, key: string, node: ExactNode): void {
    const path = joined(frame.path, key);
    this.#note(frame, key, path);
    setMember(frame.target as JsonObject, key, zeroValue(schema.values));
    this.#value(node, schema.values, { target: frame.target, key, path, context: frame.context, struct: frame.struct, isField: false });
  }

  #field(frame: Frame, struct: StructSchema, name: string, node: ExactNode): void {
    const path = joined(frame.path, name);
    const field = struct.fields.get(name);
    if (field === undefined) {
      if (!frame.context.isSpecial) this.#faults.unknown(path);
      return;
    }
    this.#note(frame, name, path);
    const slot: Slot = { target: frame.target, key: name, path, context: fieldContext(frame.context, struct, field), struct, isField: true };
    const isNil = node === null && (field.isPointer || field.schema.shape === "list" || field.schema.shape === "map");
    if (isNil) delete (frame.target as JsonObject)[name];
    else this.#value(node, field.schema, slot);
  }

  #note(frame: Frame, key: string, path: string): void {
    if (frame.seen.has(key) && !frame.context.isSpecial) this.#faults.duplicate(path);
    frame.seen.add(key);
  }

  #value(node: ExactNode, schema: Schema, slot: Slot): void {
    if (schema.shape === "scalar") {
      this.#scalar(node, schema, slot);
    } else if (node === null) {
      // null leaves structs as they are; lists and maps were set to nil by the container.
    } else if (schema.shape === "list") {
      if (Array.isArray(node)) this.#openFrame(node, schema, [], slot);
      else this.#mismatch(nodeKind(node), schema.goName, slot.context);
    } else if (node instanceof ExactMembers) {
      // A repeated struct or map is decoded on top of the first.
      const earlier = Array.isArray(slot.target) || !Object.hasOwn(slot.target, slot.key) ? undefined : slot.target[slot.key as string];
      const isMerged = slot.isField && typeof earlier === "object" && earlier !== null;
      this.#openFrame(node, schema, isMerged ? (earlier as JsonObject) : {}, slot);
    } else {
      this.#mismatch(nodeKind(node), goTypeName(schema), slot.context);
    }
  }

  #openFrame(node: ExactMembers | ExactNode[], schema: StructSchema | MapSchema | ListSchema, target: JsonObject | JsonValue[], slot: Slot): void {
    put(slot, target);
    this.#open.push({
      node,
      schema,
      target,
      path: slot.path,
      context: slot.context,
      struct: schema.shape === "struct" ? schema : slot.struct,
      seen: new Set(),
      next: 0,
    });
  }

  #scalar(node: ExactNode, schema: ScalarSchema, slot: Slot): void {
    switch (schema.scalar) {
      case "time":
      case "microTime":
        this.#time(node, schema.scalar, slot);
        return;
      case "duration":
        if (typeof node === "string") put(slot, node);
        else if (node !== null) this.#fatal(nodeKind(node), "string", slot.context);
        return;
      case "quantity":
        put(slot, node === null ? "0" : quantityText(quantitySource(node)));
        return;
      case "intOrString":
        this.#intOrString(node, slot);
        return;
      case "json":
        this.#json(node, schema, slot);
        return;
      case "bytes":
        this.#bytes(node, schema, slot);
        return;
      default:
        this.#plainScalar(node, schema, slot);
    }
  }

  #plainScalar(node: ExactNode, schema: ScalarSchema, slot: Slot): void {
    if (node === null) return;
    if (node instanceof NumberText) {
      if (isIntegerKind(schema.scalar)) {
        if (!fitsInteger(schema.scalar, node.text)) this.#mismatch(`number ${node.text}`, schema.goName, slot.context);
        else put(slot, integerValue(node.text));
        return;
      }
      if (schema.scalar === "float64" || schema.scalar === "float32") {
        if (!Number.isFinite(floatValue(node.text))) this.#mismatch(`number ${node.text}`, schema.goName, slot.context);
        else put(slot, floatValue(node.text));
        return;
      }
    }
    const isFit = (schema.scalar === "string" && typeof node === "string") || (schema.scalar === "bool" && typeof node === "boolean");
    if (isFit) put(slot, node as string | boolean);
    else this.#mismatch(nodeKind(node), schema.goName, slot.context);
  }

  #time(node: ExactNode, layout: "time" | "microTime", slot: Slot): void {
    if (typeof node === "string") put(slot, timeText(node, layout));
    else if (node === null) put(slot, null);
    else this.#fatal(nodeKind(node), "string", slot.context);
  }

  #intOrString(node: ExactNode, slot: Slot): void {
    if (typeof node === "string") put(slot, node);
    else if (node === null) put(slot, 0);
    else if (node instanceof NumberText && fitsInteger("int32", node.text)) put(slot, Number(node.text));
    else this.#fatal(node instanceof NumberText ? `number ${node.text}` : nodeKind(node), "int32", slot.context);
  }

  /** Base64 text, or a list of numbers, which Go takes for bytes too. */
  #bytes(node: ExactNode, schema: ScalarSchema, slot: Slot): void {
    if (node === null) return;
    if (typeof node === "string") {
      const result = base64Text(node);
      if ("text" in result) put(slot, result.text);
      else this.#typeError ??= new DecodeError("value", result.error);
    } else if (Array.isArray(node)) {
      for (const item of node) {
        if (item instanceof NumberText ? !fitsInteger("uint8", item.text) : item !== null) {
          this.#mismatch(item instanceof NumberText ? `number ${item.text}` : nodeKind(item), "uint8", slot.context);
        }
      }
      put(slot, Buffer.from(node.map((item) => (item instanceof NumberText ? Number(item.text) : 0))).toString("base64"));
    } else {
      this.#mismatch(nodeKind(node), schema.goName, slot.context);
    }
  }

  #json(node: ExactNode, schema: ScalarSchema, slot: Slot): void {
    const { special = "" } = schema;
    if (node === null) {
      if (schema.special === undefined || special === "JSON") put(slot, null);
      return;
    }
    if (!special.startsWith("JSONSchemaPropsOr")) {
      put(slot, plainValue(node));
      return;
    }
    const inner: Slot = { ...slot, context: { ...slot.context, isSpecial: true }, isField: false };
    if (node instanceof ExactMembers) this.#value(node, slot.struct, inner);
    else if (special === "JSONSchemaPropsOrArray" && Array.isArray(node)) this.#value(node, listOf(slot.struct), inner);
    else if (special === "JSONSchemaPropsOrStringArray" && Array.isArray(node))
      this.#value(node, listOf({ shape: "scalar", scalar: "string", goName: "string" }), inner);
    else if (special === "JSONSchemaPropsOrBool" && typeof node === "boolean") put(slot, node);
    else if (special === "JSONSchemaPropsOrBool") throw new DecodeError("value", "boolean or JSON schema expected");
  }

  #mismatch(found: string, goType: string, context: Context): void {
    const error = typeError(found, goType, context);
    if (context.isSpecial) throw error;
    this.#typeError ??= error;
  }

  #fatal(found: string, goType: string, context: Context): never {
    throw typeError(found, goType, context);
  }
}

function typeError(found: string, goType: string, { struct, field }: Context): DecodeError {
  const place = field === "" ? "value" : `struct field ${struct}.${field}`;
  return new DecodeError("value", `json: cannot unmarshal ${found} into Go ${place} of type ${goType}`);
}

function fieldContext(outer: Context, struct: StructSchema, field: FieldSchema): Context {
  const names = [...(outer.field === "" ? [] : [outer.field]), ...field.embedded.map((part) => part.goName), field.name];
  return { struct: outer.isSpecial ? outer.struct : struct.goName, field: names.join("."), isSpecial: outer.isSpecial };
}

function joined(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function put(slot: Slot, value: JsonValue): void {
  if (Array.isArray(slot.target)) slot.target[slot.key as number] = value;
  else if (value === null && slot.isField) delete slot.target[slot.key as string];
  else setMember(slot.target, slot.key as string, value);
}

/** What Go calls the JSON value that it found. */
export function nodeKind(node: ExactNode): string {
  if (node === null) return "null";
  if (Array.isArray(node)) return "array";
  if (node instanceof ExactMembers) return "object";
  if (node instanceof NumberText) return "number";
  return typeof node === "string" ? "string" : "bool";
}

/** `v1.Pod`, `map[string]string`: as Go prints a type. */
function goTypeName(schema: StructSchema | MapSchema): string {
  return schema.shape === "map" ? schema.goName : schema.name.split(".").slice(-2).join(".");
}

function integerValue(text: string): JsonValue {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number + 0 : rawNumber(text);
}

/** What a Quantity reads: the text inside the quotes, or the bare JSON. */
function quantitySource(node: ExactNode): string {
  if (typeof node === "string") return node;
  return node instanceof NumberText ? node.text : "{}";
}

function listOf(items: Schema): ListSchema {
  return { shape: "list", items, itemsArePointers: false, listType: "atomic", listMapKeys: [], goName: "[]" };
}

/** The value that an element of a list or map has when it is null. */
function zeroValue(schema: Schema): JsonValue {
  if (schema.shape === "struct") return {};
  if (schema.shape !== "scalar") return null;
  switch (schema.scalar) {
    case "string":
    case "bytes":
      return "";
    case "bool":
      return false;
    case "quantity":
      return "0";
    case "time":
    case "microTime":
    case "json":
      return null;
    case "duration":
      return "0s";
    default:
      return 0;
  }
}
