/**
 * Writes objects as CBOR in the form of Kubernetes (KEP-4222): text as byte strings, bytes (base64 in JSON) as byte strings under the tag that says
 * so, integers and floats as short as they can be, and the tag of CBOR itself in front of each document. Does not recurse.
 */
import { encode, Token, Type } from "cborg";
import { isRawNumber } from "../json.ts";
import type { JsonObject, JsonScalar, JsonValue } from "../json.ts";
import type { Schema, StructSchema } from "../schema.ts";
import { selfDescribed } from "./read-cbor.ts";

/** The document of an object. Without a schema there are no bytes in it. */
export function encodeCbor(object: JsonObject, schema: Schema | undefined): Buffer {
  return Buffer.concat([selfDescribed, written(tokensOf(object, schema))]);
}

/** The start of a list's document, up to its items: the members of `head`, then `member` with `count` items that follow, each by `encodeCborItem`. */
export function encodeCborListHead(
  head: JsonObject,
  schema: StructSchema | undefined,
  { member, count }: { readonly member: string; readonly count: number },
): Buffer {
  const members = Object.entries(head).flatMap(([name, value]) => [text(name), ...tokensOf(value, schema?.fields.get(name)?.schema)]);
  const tokens = [new Token(Type.map, Object.keys(head).length + 1), ...members, text(member), new Token(Type.array, count)];
  return Buffer.concat([selfDescribed, written(tokens)]);
}

/** An item of a list: without the tag of a document. */
export function encodeCborItem(item: JsonValue, schema: Schema | undefined): Buffer {
  return written(tokensOf(item, schema));
}

function written(tokens: Token[]): Buffer {
  const bytes = encode({}, { float64: false, typeEncoders: { Object: () => tokens } });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The tokens of a value, in order. Containers put their heads first, and what is in them onto the stack. */
function tokensOf(root: JsonValue, schema: Schema | undefined): Token[] {
  const tokens: Token[] = [];
  const pending: { readonly value: JsonValue; readonly schema: Schema | undefined; readonly name?: string }[] = [{ value: root, schema }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, name } = next;
    if (name !== undefined) tokens.push(text(name));
    if (typeof value !== "object" || value === null || isRawNumber(value)) {
      tokens.push(...scalar(value, next.schema));
      continue;
    }
    if (Array.isArray(value)) {
      tokens.push(new Token(Type.array, value.length));
      const items = next.schema?.shape === "list" ? next.schema.items : undefined;
      for (let index = value.length - 1; index >= 0; index--) pending.push({ value: value[index]!, schema: items });
      continue;
    }
    const names = Object.keys(value);
    tokens.push(new Token(Type.map, names.length));
    for (const member of names.reverse()) pending.push({ name: member, value: value[member]!, schema: memberSchema(next.schema, member) });
  }
  return tokens;
}

function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  if (schema?.shape === "map") return schema.values;
  return schema?.shape === "struct" ? schema.fields.get(name)?.schema : undefined;
}

const base64Tag = 22;

function scalar(value: JsonScalar, schema: Schema | undefined): Token[] {
  if (value === null) return [new Token(Type.null, null)];
  if (typeof value === "boolean") return [value ? new Token(Type.true, true) : new Token(Type.false, false)];
  if (typeof value === "string") {
    const isBytes = schema?.shape === "scalar" && schema.scalar === "bytes";
    return isBytes ? [new Token(Type.tag, base64Tag), new Token(Type.bytes, Buffer.from(value, "base64"))] : [text(value)];
  }
  const written = typeof value === "number" ? String(value) : value.rawJSON;
  if (!/^-?\d+$/.test(written)) return [new Token(Type.float, Number(written))];
  const integer = BigInt(written);
  const small = Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
  return [new Token(integer < 0n ? Type.negint : Type.uint, small)];
}

function text(value: string): Token {
  return new Token(Type.bytes, Buffer.from(value));
}
