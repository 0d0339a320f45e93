/**
 * The format of a log segment: a header that names the revision before its first record, then one frame for each committed group:
 * magic, length and CRC-32 of the payload, payload. A group is written and synced before the next begins, so that only the last frame
 * can be torn by a crash: it was not acknowledged and is cut off. A bad frame with a good one behind it is damage. Checksums start from
 * the segment's random salt, so that no stored value can contain what looks like a frame.
 */
import { crc32 } from "node:zlib";

import { StoreError } from "../store.ts";
import type { Version } from "../version.ts";
import { logRecordBytes, readLogRecords, writeLogRecord } from "./record.ts";

export const segmentHeaderBytes = 24;

/** Header of a segment whose first record will have revision `baseRevision` + 1; `salt` is a random 32-bit number. */
export function segmentHeader(baseRevision: number, salt: number): Buffer {
  const header = Buffer.alloc(segmentHeaderBytes);
  header.write(segmentMagic, 0, "latin1");
  header.writeUIntLE(baseRevision, 8, 6);
  header.writeUInt16LE(segmentVersion, 14);
  header.writeUInt32LE(salt, 16);
  header.writeUInt32LE(crc32(header.subarray(0, 20)), 20);
  return header;
}

/** One group as a frame. */
export function encodeFrame(versions: readonly Version[], salt: number): Buffer {
  let length = frameHeaderBytes;
  for (const version of versions) length += logRecordBytes(version);
  const frame = Buffer.allocUnsafe(length);
  let offset = frameHeaderBytes;
  for (const version of versions) offset = writeLogRecord(frame, offset, version);
  frame.writeUInt32LE(frameMagic, 0);
  frame.writeUInt32LE(length - frameHeaderBytes, 4);
  frame.writeUInt32LE(crc32(frame.subarray(frameHeaderBytes), salt), 8);
  return frame;
}

export interface SegmentContent {
  /** Revision before the first record, and of the last one. */
  readonly baseRevision: number;
  readonly lastRevision: number;
  readonly salt: number;
  readonly versions: readonly Version[];
  /** Where the last good frame ends; what is behind it is a torn one. */
  readonly endOffset: number;
}

/** Reads a whole segment. `undefined`: the header itself was torn, nothing was ever in it. Throws StoreError `Corrupt`. */
export function readSegment(bytes: Buffer, name: string): SegmentContent | undefined {
  if (bytes.length < segmentHeaderBytes) return undefined;
  const header = bytes.subarray(0, segmentHeaderBytes);
  if (header.readUInt32LE(20) !== crc32(header.subarray(0, 20)) || header.toString("latin1", 0, 8) !== segmentMagic) {
    if (bytes.indexOf(frameMagicBytes, segmentHeaderBytes) < 0) return undefined;
    throw damaged(name, "its header is not readable");
  }
  const salt = header.readUInt32LE(16);
  const baseRevision = header.readUIntLE(8, 6);
  const versions: Version[] = [];
  let offset = segmentHeaderBytes;
  let lastRevision = baseRevision;
  for (let end = frameEnd(bytes, offset, salt); end > 0; end = frameEnd(bytes, offset, salt)) {
    for (const version of readLogRecords(bytes.subarray(offset + frameHeaderBytes, end))) {
      if (version.modRevision !== lastRevision + 1) throw damaged(name, `revision ${version.modRevision} follows ${lastRevision}`);
      lastRevision = version.modRevision;
      versions.push(version);
    }
    offset = end;
  }
  if (findFrame(bytes, offset + 1, salt) >= 0) throw damaged(name, `the group at byte ${offset} has a wrong checksum`);
  return { baseRevision, lastRevision, salt, versions, endOffset: offset };
}

const segmentMagic = "CORALOG\n";
const segmentVersion = 1;
const frameHeaderBytes = 12;
const frameMagic = 0x464c_4f43;
const frameMagicBytes = Buffer.from("COLF", "latin1");

export function damaged(name: string, what: string): StoreError {
  return new StoreError("Corrupt", `${name} is damaged (${what}); restore the data directory from a backup`);
}

/** Where the frame at `offset` ends; 0 when there is no good frame. */
function frameEnd(bytes: Buffer, offset: number, salt: number): number {
  if (offset + frameHeaderBytes > bytes.length || bytes.readUInt32LE(offset) !== frameMagic) return 0;
  const end = offset + frameHeaderBytes + bytes.readUInt32LE(offset + 4);
  if (end > bytes.length || end === offset + frameHeaderBytes) return 0;
  return crc32(bytes.subarray(offset + frameHeaderBytes, end), salt) === bytes.readUInt32LE(offset + 8) ? end : 0;
}

/** Offset of the first good frame at or after `offset`, or -1. */
function findFrame(bytes: Buffer, offset: number, salt: number): number {
  for (let at = bytes.indexOf(frameMagicBytes, offset); at >= 0; at = bytes.indexOf(frameMagicBytes, at + 1)) {
    if (frameEnd(bytes, at, salt) > 0) return at;
  }
  return -1;
}
