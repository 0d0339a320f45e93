/**
 * OpenAPI documents in protobuf, as the messages of `openapi.v2` and `openapi.v3` (OpenAPIv2.proto, OpenAPIv3.proto) hold them. Messages are
 * data: which JSON member is which field; members whose name begins with `x-` are extensions, whose values are YAML text.
 */
import type { JsonObject, JsonValue } from "../../../apimachinery/json.ts";
import { BackwardWriter } from "../../../apimachinery/protobuf/wire.ts";

/**
 * How a member is written: a scalar, `yaml` (a message `Any`), `words` (a message of repeated strings), the name of a message, or a form of
 * them: `[]T` repeated, `{}T` a message of named values, `<>T` a message whose first field repeats T.
 */
export type FieldType = string;

export interface MessageType {
  /** By JSON member. */
  readonly fields?: Readonly<Record<string, readonly [number: number, type: FieldType]>>;
  /** Field of the extensions. */
  readonly extensions?: number;
  /** Field and type of all further members, which are named values. */
  readonly others?: readonly [number: number, type: FieldType];
  /** The field that stands for a value, of a message that is one of several. */
  readonly choose?: (value: JsonValue) => readonly [number: number, type: FieldType] | undefined;
}

export type MessageTypes = Readonly<Record<string, MessageType>>;

/** Steps of encoding it. */
export function* encodeDocument(document: JsonObject, types: MessageTypes): Generator<void, Uint8Array> {
  const encoder = new Encoder(types);
  yield* encoder.steps("Document", document);
  return encoder.writer.finish();
}

/** Messages of the document itself, whose members are worked on step by step. */
const steppedLevels = 3;

/** The writer fills from the end: what comes last is written first. */
class Encoder {
  readonly writer = new BackwardWriter();
  readonly #types: MessageTypes;

  constructor(types: MessageTypes) {
    this.#types = types;
  }

  members(name: string, value: JsonValue): void {
    for (const _step of this.steps(name, value, 0));
  }

  /** Writes the members of a message; rests after each of those that are `levels` deep at most. */
  *steps(name: string, value: JsonValue, levels = steppedLevels): Generator<void> {
    const type = this.#types[name];
    if (type === undefined) throw new Error(`no message ${name}`);
    if (type.choose !== undefined) {
      const chosen = type.choose(value);
      if (chosen !== undefined) yield* this.#fieldSteps(chosen[0], chosen[1], value, levels);
      return;
    }
    const known: [number, FieldType, JsonValue][] = [];
    const named: [number, FieldType, string, JsonValue][] = [];
    for (const [member, item] of Object.entries(value as JsonObject)) {
      const field = type.fields?.[member];
      if (field !== undefined) known.push([field[0], field[1], item]);
      else if (member.startsWith("x-") && type.extensions !== undefined) named.push([type.extensions, "yaml", member, item]);
      else if (type.others !== undefined) named.push([type.others[0], type.others[1], member, item]);
    }
    for (const [number, kind, member, item] of named.toReversed()) {
      this.#named(number, kind, member, item);
      if (levels > 0) yield;
    }
    for (const [number, kind, item] of known.sort(([a], [b]) => b - a)) yield* this.#fieldSteps(number, kind, item, levels - 1);
  }

  *#fieldSteps(number: number, type: FieldType, value: JsonValue, levels: number): Generator<void> {
    const isScalar = ["string", "bool", "integer", "number", "yaml"].includes(type);
    if (levels <= 0 || isScalar || type.startsWith("[]") || type.startsWith("<>")) {
      this.field(number, type, value);
      return;
    }
    const before = this.writer.length;
    if (type.startsWith("{}")) {
      for (const [name, item] of Object.entries(value as JsonObject).toReversed()) {
        this.#named(1, type.slice(2), name, item);
        yield;
      }
    } else yield* this.steps(type, value, levels);
    this.writer.closeMessage(number, before);
  }

  field(number: number, type: FieldType, value: JsonValue): void {
    const inner = type.slice(2);
    if (type.startsWith("[]")) for (const item of (value as JsonValue[]).toReversed()) this.field(number, inner, item);
    else if (type.startsWith("{}")) this.#message(number, () => this.#namedAll(inner, value as JsonObject));
    else if (type.startsWith("<>")) this.#message(number, () => this.field(1, `[]${inner}`, Array.isArray(value) ? value : [value]));
    else this.#single(number, type, value);
  }

  #single(number: number, type: FieldType, value: JsonValue): void {
    switch (type) {
      case "string":
        this.writer.string(number, String(value));
        break;
      case "bool":
      case "integer":
        this.writer.integer(number, Number(value));
        break;
      case "number":
        this.writer.double(number, Number(value));
        break;
      case "yaml":
        this.#message(number, () => this.writer.string(2, `${JSON.stringify(value)}\n`));
        break;
      default:
        this.#message(number, () => this.members(type, value));
    }
  }

  #namedAll(type: FieldType, values: JsonObject): void {
    for (const [name, value] of Object.entries(values).toReversed()) this.#named(1, type, name, value);
  }

  #named(number: number, type: FieldType, name: string, value: JsonValue): void {
    this.#message(number, () => {
      this.field(2, type, value);
      this.writer.string(1, name);
    });
  }

  #message(number: number, write: () => void): void {
    const before = this.writer.length;
    write();
    this.writer.closeMessage(number, before);
  }
}
