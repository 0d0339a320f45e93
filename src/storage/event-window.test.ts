import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { EventWindow, type WindowLimits } from "./event-window.ts";

function fill(limits: WindowLimits, count: number, valueBytes = 0): { window: EventWindow; forgotten: number[] } {
  const forgotten: number[] = [];
  const window = new EventWindow(10, limits, (version) => forgotten.push(version.modRevision));
  for (let revision = 11; revision <= 10 + count; revision++) {
    const value = new Uint8Array(valueBytes);
    const key = revision % 2 === 0 ? "/even/k" : "/odd/k";
    window.push(
      { kind: "put", key, value, revision, createRevision: revision },
      { key, value, valueBytes, createRevision: revision, modRevision: revision, isDeleted: false, expiresAtMs: 0, previous: undefined },
    );
    window.trim();
  }
  return { window, forgotten };
}

const revisions = (window: EventWindow, prefix: string, after: number, limit = 1_000) => {
  const { events, revision } = window.read(prefix, after, limit);
  return { events: events.map((event) => event.revision), revision };
};

describe("event window", () => {
  it("reads what a prefix covers, and says how far it looked", () => {
    const { window } = fill({ maxEvents: 100, maxBytes: 1e9 }, 6);
    assert.deepEqual(revisions(window, "/even/", 10), { events: [12, 14, 16], revision: 16 });
    assert.deepEqual(revisions(window, "/even/", 12), { events: [14, 16], revision: 16 });
    assert.deepEqual(revisions(window, "/even/", 10, 2), { events: [12, 14], revision: 14 });
    assert.deepEqual(revisions(window, "/none/", 10), { events: [], revision: 16 });
    assert.deepEqual(revisions(window, "/", 16), { events: [], revision: 16 });
  });

  for (const { name, limits, kept } of [
    { name: "count", limits: { maxEvents: 50, maxBytes: 1e9 }, kept: 50 },
    { name: "bytes", limits: { maxEvents: 1e9, maxBytes: 100_000 }, kept: 82 },
  ]) {
    it(`is bounded by ${name}, oldest out first`, () => {
      const { window, forgotten } = fill(limits, 5_000, 1_000);
      assert.equal(window.last, 5_010);
      assert.equal(window.forgotten, 5_010 - kept);
      assert.deepEqual(
        forgotten,
        Array.from({ length: 5_000 - kept }, (_, index) => 11 + index),
      );
      assert.deepEqual(revisions(window, "/", 5_005).events, [5_006, 5_007, 5_008, 5_009, 5_010]);
    });
  }

  it("forgets up to a revision, and not beyond the newest", () => {
    const { window, forgotten } = fill({ maxEvents: 100, maxBytes: 1e9 }, 10);
    window.forget(15);
    assert.deepEqual(forgotten, [11, 12, 13, 14, 15]);
    assert.equal(window.forgotten, 15);
    window.forget(5);
    assert.equal(window.forgotten, 15);
    window.forget(1_000);
    assert.equal(window.forgotten, 20);
    assert.equal(window.last, 20);
  });
});
