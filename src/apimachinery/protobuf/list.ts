/** Lists of objects whose messages are made already: a head with the length of all in front, then the messages, each in a field of its own. */
import type { JsonObject } from "../json.ts";
import type { StructSchema } from "../schema.ts";
import { writeMessage } from "./encode.ts";
import { closeEnvelope, envelopeEnd } from "./envelope.ts";
import { messagePlan } from "./plan.ts";
import { BackwardWriter } from "./wire.ts";

export interface ProtobufList {
  /** The list without its items. */
  readonly head: JsonObject;
  readonly schema: StructSchema;
  readonly apiVersion: string;
  readonly kind: string;
  readonly messages: readonly Uint8Array[];
}

/** The list in its envelope, in pieces of about `pieceBytes`. */
export function* protobufListPieces({ head, schema, apiVersion, kind, messages }: ProtobufList, pieceBytes: number): Generator<Buffer> {
  // Items are the last field of every list.
  const { protobufNumber } = schema.fields.get("items")!;
  let itemBytes = 0;
  for (const { length } of messages) itemBytes += itemPrefixBytes(length) + length;
  const writer = new BackwardWriter();
  writeMessage(writer, head, messagePlan(schema));
  let piece: Uint8Array[] = [closeEnvelope(writer, { apiVersion, kind, rawBytes: writer.length + itemBytes })];
  let bytes = piece[0]!.length;
  for (const message of messages) {
    if (bytes + message.length > pieceBytes && bytes > 0) {
      yield Buffer.concat(piece, bytes);
      piece = [];
      bytes = 0;
    }
    const prefix = itemPrefix(protobufNumber, message.length);
    piece.push(prefix, message);
    bytes += prefix.length + message.length;
  }
  yield Buffer.concat([...piece, envelopeEnd], bytes + envelopeEnd.length);
}

function itemPrefix(number: number, length: number): Uint8Array {
  const bytes = [number * 8 + 2];
  let rest = length;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/** Field numbers of lists are below 16: their tag takes one byte. */
function itemPrefixBytes(length: number): number {
  let bytes = 2;
  for (let rest = length; rest >= 0x80; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}
