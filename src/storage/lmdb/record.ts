/**
 * Versions as bytes. In the log: kind, revisions, expiry, lengths, key, value; framed and checksummed by group (log-segment.ts). In the
 * checkpoint: CRC-32 of key and the rest, revisions, expiry, value. Integers are little-endian; revisions and times take 48 bits.
 */
import { crc32 } from "node:zlib";

import { StoreError } from "../store.ts";
import type { Version } from "../version.ts";

/** Bytes that `writeLogRecord` needs for `version`. */
export function logRecordBytes(version: Version): number {
  return logHeaderBytes + Buffer.byteLength(version.key) + (version.isDeleted ? 0 : version.valueBytes);
}

/** Writes `version` at `offset` and returns where it ends. */
export function writeLogRecord(target: Buffer, offset: number, version: Version): number {
  const keyBytes = target.write(version.key, offset + logHeaderBytes, "utf8");
  const value = version.isDeleted ? undefined : version.value!;
  target.writeUInt8(version.isDeleted ? 2 : 1, offset);
  target.writeUIntLE(version.modRevision, offset + 1, 6);
  target.writeUIntLE(version.createRevision, offset + 7, 6);
  target.writeUIntLE(version.expiresAtMs, offset + 13, 6);
  target.writeUInt16LE(keyBytes, offset + 19);
  target.writeUInt32LE(value?.length ?? 0, offset + 21);
  const valueAt = offset + logHeaderBytes + keyBytes;
  if (value !== undefined) target.set(value, valueAt);
  return valueAt + (value?.length ?? 0);
}

/** Versions of one group's payload, whose checksum was right. */
export function readLogRecords(payload: Buffer): Version[] {
  const versions: Version[] = [];
  for (let offset = 0; offset < payload.length;) {
    const keyAt = offset + logHeaderBytes;
    const valueAt = keyAt + payload.readUInt16LE(offset + 19);
    const valueBytes = payload.readUInt32LE(offset + 21);
    versions.push({
      key: payload.toString("utf8", keyAt, valueAt),
      // A copy: a slice would keep the whole segment in memory.
      value: new Uint8Array(payload.subarray(valueAt, valueAt + valueBytes)),
      valueBytes,
      modRevision: payload.readUIntLE(offset + 1, 6),
      createRevision: payload.readUIntLE(offset + 7, 6),
      expiresAtMs: payload.readUIntLE(offset + 13, 6),
      isDeleted: payload.readUInt8(offset) === 2,
      previous: undefined,
    });
    offset = valueAt + valueBytes;
  }
  return versions;
}

/** A version as the checkpoint holds it under `key`. */
export function encodeCheckpointRecord(key: Buffer, version: Version): Buffer {
  const record = Buffer.allocUnsafe(checkpointHeaderBytes + version.valueBytes);
  record.writeUIntLE(version.modRevision, 4, 6);
  record.writeUIntLE(version.createRevision, 10, 6);
  record.writeUIntLE(version.expiresAtMs, 16, 6);
  record.set(version.value!, checkpointHeaderBytes);
  record.writeUInt32LE(recordChecksum(key, record), 0);
  return record;
}

/** The version that `record` holds, without its value. */
export function decodeCheckpointHeader(key: Buffer, record: Buffer): Version {
  return {
    key: key.toString("utf8"),
    value: undefined,
    valueBytes: record.length - checkpointHeaderBytes,
    modRevision: record.readUIntLE(4, 6),
    createRevision: record.readUIntLE(10, 6),
    expiresAtMs: record.readUIntLE(16, 6),
    isDeleted: false,
    previous: undefined,
  };
}

/** The value of `record` when it is intact and of revision `modRevision`. Throws StoreError `Corrupt`. */
export function checkpointValue(key: Buffer, record: Buffer | undefined, modRevision: number): Uint8Array {
  if (!isIntact(key, record) || record.readUIntLE(4, 6) !== modRevision) {
    throw new StoreError("Corrupt", `the stored value of ${key.toString("utf8")} is damaged; restore the data directory from a backup`);
  }
  return record.subarray(checkpointHeaderBytes);
}

/** Whether the checksum of `record` is right. */
export function isIntact(key: Buffer, record: Buffer | undefined): record is Buffer {
  return record !== undefined && record.length >= checkpointHeaderBytes && record.readUInt32LE(0) === recordChecksum(key, record);
}

const logHeaderBytes = 25;
const checkpointHeaderBytes = 22;

function recordChecksum(key: Buffer, record: Buffer): number {
  return crc32(record.subarray(4), crc32(key));
}
