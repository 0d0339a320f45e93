/** Bodies of long lists: made in pieces while the client takes them, so that neither memory nor the event loop holds a whole one. */
import { Pacer } from "../../../base/pacer.ts";
import type { Clock } from "../../../base/clock.ts";
import { encodeCborItem, encodeCborListHead } from "../../../apimachinery/cbor/write-cbor.ts";
import { goJson } from "../../../apimachinery/json.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import { protobufListPieces } from "../../../apimachinery/protobuf/list.ts";
import type { ResponseBody } from "../../../apimachinery/request.ts";
import type { StructSchema } from "../../../apimachinery/schema.ts";
import type { StoredObject } from "../../cache/stored-object.ts";

/** Shorter lists are made at once. */
export const longListItems = 500;
const chunkBytes = 256 * 1024;

/** JSON made of slices of the stored bytes. `head` is the list without its items; `isBare`: items carry no kind and apiVersion. */
export function storedItems(head: JsonObject, items: readonly StoredObject[], isBare: boolean, clock: Clock): ResponseBody {
  const opening = `${JSON.stringify(head).slice(0, -1)},"items":[`;
  if (!isLong(items)) return { kind: "bytes", bytes: joined([...storedChunks(opening, items, isBare)]) };
  return { kind: "stream", chunks: paced(storedChunks(opening, items, isBare), clock), isDocument: true };
}

/** JSON of a list whose last member, `member`, has `count` items. */
export function writtenItems(
  head: JsonObject,
  list: { readonly member: string; readonly count: number; readonly itemAt: (index: number) => JsonObject },
  clock: Clock,
): ResponseBody {
  return { kind: "stream", chunks: paced(writtenChunks(head, list), clock), isDocument: true };
}

/** CBOR of a list whose last member, `member`, has `count` items. */
export function cborItems(
  head: JsonObject,
  list: { readonly member: string; readonly schema: StructSchema | undefined; readonly count: number; readonly itemAt: (index: number) => JsonObject },
  clock: Clock,
): ResponseBody {
  return { kind: "stream", chunks: paced(cborChunks(head, list), clock), isDocument: true };
}

function* cborChunks(head: JsonObject, { member, schema, count, itemAt }: Parameters<typeof cborItems>[1]): Generator<Buffer> {
  const list = schema?.fields.get(member)?.schema;
  const itemSchema = list?.shape === "list" ? list.items : undefined;
  yield encodeCborListHead(head, schema, { member, count });
  for (let from = 0; from < count; from += cborItemsPerChunk)
    yield Buffer.concat(Array.from({ length: Math.min(cborItemsPerChunk, count - from) }, (_, index) => encodeCborItem(itemAt(from + index), itemSchema)));
}

const cborItemsPerChunk = 32;

/** Protobuf of a list: its length stands in front, so that every message is made before the first byte leaves. */
export async function protobufItems(
  head: JsonObject,
  list: { readonly schema: StructSchema; readonly count: number; readonly messageAt: (index: number) => Uint8Array },
  clock: Clock,
): Promise<ResponseBody> {
  const pacer = new Pacer(clock);
  const { apiVersion, kind } = head as { apiVersion: string; kind: string };
  const messages: Uint8Array[] = [];
  for (let index = 0; index < list.count; index++) {
    messages.push(list.messageAt(index));
    if (pacer.isDue()) await pacer.turn();
  }
  const pieces = protobufListPieces({ head, schema: list.schema, apiVersion, kind, messages }, chunkBytes);
  if (list.count <= longListItems) return { kind: "bytes", bytes: joined([...pieces]) };
  return { kind: "stream", chunks: paced(pieces, clock), isDocument: true };
}

function isLong(items: readonly StoredObject[]): boolean {
  let bytes = 0;
  for (const item of items) if ((bytes += item.bytes.length) > chunkBytes) return true;
  return false;
}

function joined(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

const closing = "]}\n";
const comma = 0x2c;

function* storedChunks(opening: string, items: readonly StoredObject[], isBare: boolean): Generator<Buffer> {
  let chunk = Buffer.allocUnsafe(Math.min(chunkBytes, roomFor(items) + opening.length * 3 + closing.length));
  let at = chunk.write(opening);
  for (const [index, item] of items.entries()) {
    const room = item.itemBytesAtMost + 1 + closing.length;
    if (at + room > chunk.length) {
      yield chunk.subarray(0, at);
      chunk = Buffer.allocUnsafe(Math.max(chunkBytes, room));
      at = 0;
    }
    if (index > 0) chunk[at++] = comma;
    at = item.writeItem(chunk, at, isBare);
  }
  at += chunk.write(closing, at);
  yield chunk.subarray(0, at);
}

/** Room for the items of a short list; as much as a chunk for others. */
function roomFor(items: readonly StoredObject[]): number {
  let bytes = 0;
  for (const item of items) if ((bytes += item.itemBytesAtMost + 1) > chunkBytes) break;
  return bytes;
}

function* writtenChunks(
  head: JsonObject,
  { member, count, itemAt }: { readonly member: string; readonly count: number; readonly itemAt: (index: number) => JsonObject },
): Generator<Buffer> {
  let text = `${goJson(head).slice(0, -1)},${JSON.stringify(member)}:[`;
  for (let index = 0; index < count; index++) {
    text += index > 0 ? `,${goJson(itemAt(index))}` : goJson(itemAt(index));
    if (text.length < chunkBytes / 4) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text + closing);
}

/** A reader in our own process takes chunk after chunk without a break. */
async function* paced(chunks: Iterable<Buffer>, clock: Clock): AsyncGenerator<Buffer> {
  const pacer = new Pacer(clock);
  for (const chunk of chunks) {
    yield chunk;
    if (pacer.isDue()) await pacer.turn();
  }
}
