import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { StoreError } from "../store.ts";
import type { Version } from "../version.ts";
import { encodeFrame, readSegment, segmentHeader, segmentHeaderBytes } from "./segment.ts";

const salt = 0x1234_5678;

function version(modRevision: number, overrides: Partial<Version> = {}): Version {
  const value = new Uint8Array(Buffer.from(`value ${modRevision}`));
  const plain = { key: `/k/${modRevision}`, value, valueBytes: value.length, createRevision: modRevision, modRevision };
  return { ...plain, isDeleted: false, expiresAtMs: 0, previous: undefined, ...overrides };
}

const groups = [[version(8), version(9, { expiresAtMs: 1_790_000_000_123 })], [version(10, { key: "/é", createRevision: 3 })], [version(11), version(12)]];
const frames = groups.map((group) => encodeFrame(group, salt));
const segment = Buffer.concat([segmentHeader(7, salt), ...frames]);
/** Where each group ends. */
const ends = frames.map((_frame, index) => segmentHeaderBytes + frames.slice(0, index + 1).reduce((sum, frame) => sum + frame.length, 0));

describe("log segment", () => {
  it("reads what was written", () => {
    assert.deepEqual(readSegment(segment, "log"), { baseRevision: 7, lastRevision: 12, salt, versions: groups.flat(), endOffset: segment.length });
  });

  it("reads a deletion, which has no value of its own", () => {
    const frame = encodeFrame([version(8, { isDeleted: true })], salt);
    const [read] = readSegment(Buffer.concat([segmentHeader(7, salt), frame]), "log")!.versions;
    assert.deepEqual([read?.key, read?.isDeleted, read?.value?.length], ["/k/8", true, 0]);
  });

  it("ends with the last whole group, wherever it is cut off", () => {
    for (let length = 0; length <= segment.length; length++) {
      const content = readSegment(segment.subarray(0, length), "log");
      if (length < segmentHeaderBytes) assert.equal(content, undefined);
      else {
        const whole = ends.filter((end) => end <= length).length;
        assert.deepEqual(content?.versions, groups.slice(0, whole).flat());
        assert.equal(content?.endOffset, whole === 0 ? segmentHeaderBytes : ends[whole - 1]);
      }
    }
  });

  it("ends with the last whole group when zeros or noise follow", () => {
    for (const tail of [Buffer.alloc(5_000), Buffer.alloc(5_000, "COLF"), frames[0]!.subarray(1)]) {
      assert.equal(readSegment(Buffer.concat([segment, tail]), "log")?.endOffset, segment.length);
    }
  });

  it("takes a damaged last group for a torn one, and refuses any other damage", () => {
    for (let at = 0; at < segment.length; at++) {
      const damaged = Buffer.from(segment);
      damaged[at]! ^= 0x10;
      if (at >= ends[1]!) assert.equal(readSegment(damaged, "log")?.endOffset, ends[1]);
      else
        assert.throws(
          () => readSegment(damaged, "log"),
          (error: unknown) => error instanceof StoreError && error.reason === "Corrupt",
        );
    }
  });

  it("is not deceived by a value that looks like a group", () => {
    const deceit = encodeFrame([version(9)], 0);
    const torn = encodeFrame([version(8, { value: new Uint8Array(deceit), valueBytes: deceit.length })], salt);
    const bytes = Buffer.concat([segmentHeader(7, salt), torn.subarray(0, torn.length - 1)]);
    assert.equal(readSegment(bytes, "log")?.endOffset, segmentHeaderBytes);
  });

  it("refuses a gap in the revisions", () => {
    const bytes = Buffer.concat([segmentHeader(7, salt), frames[0]!, frames[2]!]);
    assert.throws(() => readSegment(bytes, "log-1"), { message: "log-1 is damaged (revision 11 follows 9); restore the data directory from a backup" });
  });
});
