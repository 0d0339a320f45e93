/**
 * A snapshot file: a head (`coracle-snapshot 1`, the revision), frames of versions in the log's records (each with its length and CRC-32),
 * and a foot (the count of keys, and the SHA-256 of all before it). Integers are little-endian; revisions and counts take 48 bits.
 */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { logRecordBytes, readLogRecords, writeLogRecord } from "../lmdb/record.ts";
import type { Store, StoredValue } from "../store.ts";
import type { Version } from "../version.ts";

/**
 * The whole content of `served` at one revision, which others may write on meanwhile; what is encrypted at rest stays so. Throws CompactedError when reading takes longer
 * than history lasts.
 */
export async function* writeSnapshot(served: Store): AsyncGenerator<Buffer, SnapshotSummary> {
  const store = served.atRest ?? served;
  const revision = await store.revision();
  const hash = createHash("sha256");
  let count = 0;
  const head = Buffer.alloc(magic.length + 7);
  head.write(`${magic}\n`, "latin1");
  head.writeUIntLE(revision, magic.length + 1, 6);
  hash.update(head);
  yield head;
  for (let from: string | undefined = ""; from !== undefined;) {
    const { items, hasMore } = await store.range("", { from, limit: keysInFrame, revision });
    if (items.length > 0) {
      const frame = encodeFrame(items.map(versionOf));
      hash.update(frame);
      yield frame;
    }
    count += items.length;
    // The first key behind the last one.
    from = hasMore ? `${items.at(-1)!.key}\0` : undefined;
  }
  const foot = Buffer.alloc(frameHeadBytes + 6);
  foot.writeUIntLE(count, frameHeadBytes, 6);
  yield Buffer.concat([foot, hash.update(foot).digest()]);
  return { revision, count };
}

export interface SnapshotSummary {
  readonly revision: number;
  /** Keys. */
  readonly count: number;
}

/**
 * The versions in a snapshot, in order of keys. What it yielded counts only when it has ended: then the checksum was right. Throws
 * SnapshotError.
 */
export async function* readSnapshot(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Version[], SnapshotSummary> {
  const reader = new ByteReader(bytes);
  const hash = createHash("sha256");
  const take = async (length: number) => {
    const taken = await reader.take(length);
    hash.update(taken);
    return taken;
  };
  checkHead((await reader.peek(magic.length + 1)).toString("latin1"));
  const head = await take(magic.length + 7);
  const revision = head.readUIntLE(magic.length + 1, 6);
  let count = 0;
  for (;;) {
    const frameHead = await take(frameHeadBytes);
    const length = frameHead.readUInt32LE(0);
    if (length === 0) break;
    if (length > frameLimitBytes) throw damaged();
    const payload = await take(length);
    if (crc32(payload) !== frameHead.readUInt32LE(4)) throw damaged();
    const versions = readLogRecords(payload);
    count += versions.length;
    yield versions;
  }
  const told = (await take(6)).readUIntLE(0, 6);
  const digest = hash.digest();
  if (told !== count || !digest.equals(await reader.take(digest.length)) || !(await reader.isAtEnd())) throw damaged();
  return { revision, count };
}

/** A file that cannot be restored; the message follows its name. */
export class SnapshotError extends Error {
  override name = "SnapshotError";
  readonly reason: "NotASnapshot" | "Newer" | "Truncated" | "Damaged";
  constructor(reason: SnapshotError["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

const formatVersion = 1;
const magic = `coracle-snapshot ${formatVersion}`;
/** Length of the payload, and its CRC-32. */
const frameHeadBytes = 8;
const keysInFrame = 500;
/** More than as many of the largest values. */
const frameLimitBytes = 1024 * 1024 * 1024;

function checkHead(text: string): void {
  if (text === `${magic}\n`) return;
  const version = Number(/^coracle-snapshot (\d+)/.exec(text)?.[1]);
  if (version > formatVersion)
    throw new SnapshotError("Newer", `was written by a newer version (format ${version}, this one reads ${formatVersion}): restore it with that version`);
  if (magic.startsWith(text) && text !== "") throw truncated();
  throw new SnapshotError("NotASnapshot", "is no snapshot: `coracle snapshot save` writes one");
}

const truncated = () => new SnapshotError("Truncated", "is cut off: use another snapshot, or save it again");
const damaged = () => new SnapshotError("Damaged", "is damaged (its checksum is wrong): use another snapshot, or save it again");

function encodeFrame(versions: readonly Version[]): Buffer {
  const length = versions.reduce((sum, version) => sum + logRecordBytes(version), 0);
  const frame = Buffer.allocUnsafe(frameHeadBytes + length);
  let offset = frameHeadBytes;
  for (const version of versions) offset = writeLogRecord(frame, offset, version);
  frame.writeUInt32LE(length, 0);
  frame.writeUInt32LE(crc32(frame.subarray(frameHeadBytes)), 4);
  return frame;
}

function versionOf({ key, value, createRevision, modRevision, expiresAtMs = 0 }: StoredValue): Version {
  return { key, value, valueBytes: value.length, createRevision, modRevision, expiresAtMs, isDeleted: false, previous: undefined };
}

/** Pieces of wanted lengths out of chunks of any. */
class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #buffered: Buffer = Buffer.alloc(0);

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#chunks = bytes[Symbol.asyncIterator]();
  }

  /** Throws SnapshotError `Truncated` when there are not as many. */
  async take(length: number): Promise<Buffer> {
    const taken = await this.peek(length);
    if (taken.length < length) throw truncated();
    this.#buffered = this.#buffered.subarray(length);
    return taken;
  }

  /** The next bytes, which stay; fewer at the end. */
  async peek(length: number): Promise<Buffer> {
    const chunks: Uint8Array[] = [this.#buffered];
    for (let bytes = this.#buffered.length; bytes < length;) {
      const next = await this.#chunks.next();
      if (next.done === true) break;
      chunks.push(next.value);
      bytes += next.value.length;
    }
    if (chunks.length > 1) this.#buffered = Buffer.concat(chunks);
    return this.#buffered.subarray(0, length);
  }

  async isAtEnd(): Promise<boolean> {
    return (await this.peek(1)).length === 0;
  }
}
