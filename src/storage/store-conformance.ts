/** What every Store must do, as one suite that each backend's test runs. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { VirtualClock } from "../base/virtual-clock.ts";
import { CompactedError, StoreError, type MutationResult, type Store, type StoreEvent, type StoreEvents } from "./store.ts";

/**
 * Registers the suite. `open` gives an empty store on `clock`; the suite closes it. `features` names what a backend may lack.
 */
export function storeConformance(name: string, open: OpenStore, features: { hasVirtualTime: boolean } = { hasVirtualTime: true }): void {
  describe(`${name} conforms to Store`, () => {
    mutations(open);
    ranges(open);
    watches(open);
    compaction(open);
    if (features.hasVirtualTime) expiry(open);
    ending(open);
  });
}

/** Opens an empty store and the clock it runs on. */
export type OpenStore = () => Promise<{ store: Store; clock: VirtualClock }>;

function mutations(open: OpenStore): void {
  it("creates, updates and deletes by the revision that is expected", async () => {
    await using store = (await open()).store;
    const start = await store.revision();
    assert.deepEqual(await put(store, "/registry/a", "1", 0), { isCommitted: true, revision: start + 1 });
    assert.deepEqual(await put(store, "/registry/a", "2", start + 1), { isCommitted: true, revision: start + 2 });
    assert.deepEqual(plain(await store.get("/registry/a")), { key: "/registry/a", value: "2", createRevision: start + 1, modRevision: start + 2 });
    assert.deepEqual(await remove(store, "/registry/a", start + 2), { isCommitted: true, revision: start + 3 });
    assert.equal(await store.get("/registry/a"), undefined);
    assert.equal(await store.revision(), start + 3);
  });

  const refused: { name: string; act: (store: Store, at: number) => Promise<MutationResult>; current: string | undefined }[] = [
    { name: "creation of a key that is there", act: (store) => put(store, "/k", "x", 0), current: "here" },
    { name: "update of an older state", act: (store, at) => put(store, "/k", "x", at - 1), current: "here" },
    { name: "update of a key that is not there", act: (store, at) => put(store, "/none", "x", at), current: undefined },
    { name: "deletion of an older state", act: (store, at) => remove(store, "/k", at - 1), current: "here" },
    { name: "deletion of a key that is not there", act: (store, at) => remove(store, "/none", at), current: undefined },
    { name: "deletion of an absent key as absent", act: (store) => remove(store, "/none", 0), current: undefined },
  ];
  for (const { name, act, current } of refused) {
    it(`refuses the ${name} and says what is there`, async () => {
      await using store = (await open()).store;
      await put(store, "/k", "first", 0);
      const at = await committed(put(store, "/k", "here", await store.revision()));
      const result = await act(store, at);
      assert.equal(result.isCommitted, false);
      assert.equal(!result.isCommitted && result.current && text(result.current.value), current);
      assert.equal(await store.revision(), at);
      assert.equal(text((await store.get("/k"))!.value), "here");
    });
  }

  it("gives a key that is created again a new creation revision", async () => {
    await using store = (await open()).store;
    const first = await committed(put(store, "/k", "1", 0));
    await remove(store, "/k", first);
    const again = await committed(put(store, "/k", "2", 0));
    assert.deepEqual(plain(await store.get("/k")), { key: "/k", value: "2", createRevision: again, modRevision: again });
  });

  it("commits one of many concurrent updates of the same state", async () => {
    await using store = (await open()).store;
    const base = await committed(put(store, "/k", "0", 0));
    const results = await Promise.all(Array.from({ length: 50 }, (_, index) => put(store, "/k", `w${index}`, base)));
    assert.equal(results.filter((result) => result.isCommitted).length, 1);
    const winner = results.findIndex((result) => result.isCommitted);
    assert.equal(text((await store.get("/k"))!.value), `w${winner}`);
    for (const result of results) if (!result.isCommitted) assert.equal(text(result.current!.value), `w${winner}`);
  });

  it("gives concurrent mutations of different keys a revision each, in order", async () => {
    await using store = (await open()).store;
    const start = await store.revision();
    const revisions = await Promise.all(Array.from({ length: 300 }, (_, index) => committed(put(store, `/k/${index}`, "v", 0))));
    assert.deepEqual(
      revisions.toSorted((a, b) => a - b),
      Array.from({ length: 300 }, (_, index) => start + 1 + index),
    );
    assert.equal((await store.range("/k/")).items.length, 300);
  });

  it("increments a counter without losing one", async () => {
    await using store = (await open()).store;
    await put(store, "/n", "0", 0);
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let done = 0; done < 5;) {
          const current = (await store.get("/n"))!;
          const result = await put(store, "/n", String(Number(text(current.value)) + 1), current.modRevision);
          if (result.isCommitted) done++;
        }
      }),
    );
    assert.equal(text((await store.get("/n"))!.value), "40");
  });

  it("keeps bytes as they are, empty ones too", async () => {
    await using store = (await open()).store;
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    await store.commit({ kind: "put", key: "/bytes", value: bytes, expected: 0 });
    await store.commit({ kind: "put", key: "/empty", value: new Uint8Array(0), expected: 0 });
    assert.deepEqual([...(await store.get("/bytes"))!.value], [...bytes]);
    assert.equal((await store.get("/empty"))!.value.length, 0);
  });

  it("refuses a value above 1.5 MiB and takes one just below", async () => {
    await using store = (await open()).store;
    const limit = 1.5 * 1024 * 1024;
    await assert.rejects(
      store.commit({ kind: "put", key: "/big", value: new Uint8Array(limit + 1), expected: 0 }),
      (error: unknown) => error instanceof StoreError && error.reason === "TooLarge" && error.message === "etcdserver: request is too large",
    );
    assert.equal((await store.commit({ kind: "put", key: "/big", value: new Uint8Array(limit - 4096), expected: 0 })).isCommitted, true);
  });
}

function ranges(open: OpenStore): void {
  it("lists a prefix in order of UTF-8 bytes, and nothing beside it", async () => {
    await using store = (await open()).store;
    const keys = ["/p/a", "/p/a/b", "/p/a-b", "/p/b", "/p/é", "/p/\uffee", "/p/\u{1f600}", "/p0", "/o", "/q"];
    for (const key of keys) await put(store, key, key, 0);
    const expected = keys.filter((key) => key.startsWith("/p/")).toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const { items, hasMore } = await store.range("/p/");
    assert.deepEqual(
      items.map((item) => item.key),
      expected,
    );
    assert.equal(hasMore, false);
    assert.deepEqual((await store.range("/none/")).items, []);
  });

  it("reads page after page of one revision while the store moves on", async () => {
    await using store = (await open()).store;
    const expected: string[] = [];
    for (let index = 0; index < 25; index++) {
      await put(store, `/p/${String(index).padStart(2, "0")}`, `v${index}`, 0);
      expected.push(`v${index}`);
    }
    const seen: string[] = [];
    const first = await store.range("/p/", { limit: 10 });
    for (let page = first; ;) {
      seen.push(...page.items.map((item) => text(item.value)));
      assert.equal(page.revision, first.revision);
      if (!page.hasMore) break;
      for (const key of ["/p/05", "/p/15", "/p/24"]) {
        const current = await store.get(key);
        if (current !== undefined) await (page === first ? put(store, key, "changed", current.modRevision) : remove(store, key, current.modRevision));
      }
      await put(store, `/p/0${seen.length}x`, "new", 0);
      page = await store.range("/p/", { limit: 10, from: `${page.items.at(-1)!.key}\0`, revision: first.revision });
    }
    assert.deepEqual(seen, expected);
  });

  it("says whether there is more at the very end", async () => {
    await using store = (await open()).store;
    for (const key of ["/p/1", "/p/2", "/q/3"]) await put(store, key, "v", 0);
    assert.equal((await store.range("/p/", { limit: 2 })).hasMore, false);
    assert.equal((await store.range("/p/", { limit: 1 })).hasMore, true);
  });

  it("refuses a revision that is still to come", async () => {
    await using store = (await open()).store;
    await assert.rejects(store.range("/", { revision: (await store.revision()) + 1 }), { message: "etcdserver: mvcc: required revision is a future revision" });
  });
}

function watches(open: OpenStore): void {
  it("delivers every event under the prefix once, in order, with last values of deletions", async () => {
    await using store = (await open()).store;
    const start = await store.revision();
    const collected = collect(store, "/w/", start, 4);
    const created = await committed(put(store, "/w/a", "1", 0));
    await put(store, "/x/a", "elsewhere", 0);
    const updated = await committed(put(store, "/w/a", "2", created));
    const other = await committed(put(store, "/w/b", "3", 0));
    const deleted = await committed(remove(store, "/w/a", updated));
    assert.deepEqual((await collected).map(plainEvent), [
      { kind: "put", key: "/w/a", value: "1", revision: created, createRevision: created },
      { kind: "put", key: "/w/a", value: "2", revision: updated, createRevision: created },
      { kind: "put", key: "/w/b", value: "3", revision: other, createRevision: other },
      { kind: "delete", key: "/w/a", value: "2", revision: deleted, createRevision: created },
    ]);
  });

  it("resumes after any revision that is kept", async () => {
    await using store = (await open()).store;
    const start = await store.revision();
    const revisions: number[] = [];
    for (let index = 0; index < 20; index++) revisions.push(await committed(put(store, `/w/${index}`, "v", 0)));
    for (const seen of [start, revisions[0]!, revisions[9]!, revisions[18]!]) {
      const events = await collect(store, "/w/", seen, start + 20 - seen);
      assert.deepEqual(
        events.map((event) => event.revision),
        revisions.filter((revision) => revision > seen),
      );
    }
  });

  it("moves watchers of other prefixes along, at the latest when it is asked for its revision", async () => {
    await using store = (await open()).store;
    const abort = new AbortController();
    const watch = store.watch("/other/", await store.revision(), abort.signal)[Symbol.asyncIterator]();
    // The first event shows that the watch is there.
    const first = watch.next();
    await put(store, "/other/a", "1", 0);
    let seen = (await first).value as StoreEvents;
    while (seen.events.length === 0) seen = (await watch.next()).value;
    const next = watch.next();
    const revision = await committed(put(store, "/w/a", "1", 0));
    assert.equal(await store.revision(), revision);
    assert.deepEqual((await next).value, { events: [], revision });
    const end = watch.next();
    abort.abort();
    assert.equal((await end).done, true);
  });

  it("shows a committed write to readers no later than to its watcher", async () => {
    await using store = (await open()).store;
    const events = collect(store, "/w/", await store.revision(), 1).then(async ([event]) => ({ event: event!, now: await store.get("/w/a") }));
    await put(store, "/w/a", "1", 0);
    const { event, now } = await events;
    assert.equal(now?.modRevision, event.revision);
  });

  it("ends a watch when its signal aborts, before and while it waits", async () => {
    await using store = (await open()).store;
    const revision = await store.revision();
    for await (const _batch of store.watch("/", revision, AbortSignal.abort())) assert.fail("an aborted watch delivers nothing");
    const abort = new AbortController();
    const next = store.watch("/", revision, abort.signal)[Symbol.asyncIterator]().next();
    abort.abort();
    assert.equal((await next).done, true);
  });

  it("delivers all events to many watchers under concurrent writers", async () => {
    await using store = (await open()).store;
    const start = await store.revision();
    const watchers = Array.from({ length: 10 }, () => collect(store, "/w/", start, 200));
    await Promise.all(Array.from({ length: 200 }, (_, index) => put(store, `/w/${index}`, "v", 0)));
    for (const events of await Promise.all(watchers)) {
      assert.deepEqual(
        events.map((event) => event.revision),
        Array.from({ length: 200 }, (_, index) => start + 1 + index),
      );
    }
  });
}

function compaction(open: OpenStore): void {
  it("refuses reads and watches below the compacted revision, and none at it", async () => {
    await using store = (await open()).store;
    const revisions: number[] = [];
    for (let index = 0; index < 10; index++) revisions.push(await committed(put(store, "/c", `v${index}`, revisions.at(-1) ?? 0)));
    const at = revisions[5]!;
    await store.compact(at);
    const isCompacted = (error: unknown) => error instanceof CompactedError && error.compactRevision === at;
    await assert.rejects(store.range("/c", { revision: at - 1 }), isCompacted);
    await assert.rejects(collect(store, "/c", at - 2, 1), isCompacted);
    assert.equal(text((await store.range("/c", { revision: at })).items[0]!.value), "v5");
    assert.equal(text((await store.range("/c", { revision: at + 1 })).items[0]!.value), "v6");
    assert.equal((await collect(store, "/c", at, 4)).length, 4);
    assert.equal(text((await store.get("/c"))!.value), "v9");
  });

  it("keeps what is current, and forgets deletions", async () => {
    await using store = (await open()).store;
    for (let index = 0; index < 10; index++) await put(store, `/c/${index}`, `v${index}`, 0);
    for (let index = 0; index < 10; index += 2) await remove(store, `/c/${index}`, (await store.get(`/c/${index}`))!.modRevision);
    await store.compact(await store.revision());
    assert.deepEqual(
      (await store.range("/c/")).items.map((item) => text(item.value)),
      ["v1", "v3", "v5", "v7", "v9"],
    );
    assert.equal((await put(store, "/c/0", "again", 0)).isCommitted, true);
  });
}

function expiry(open: OpenStore): void {
  it("deletes a key when its time has come, as an event with a revision", async () => {
    const { store, clock } = await open();
    await using _closing = store;
    const events = collect(store, "/e/", await store.revision(), 2);
    const result = await store.commit({ kind: "put", key: "/e/a", value: bytes("v"), expected: 0, ttlSeconds: 60 });
    await clock.advance(59_999);
    assert.equal(text((await store.get("/e/a"))!.value), "v");
    await clock.advance(1);
    const [, deletion] = await events;
    assert.deepEqual(plainEvent(deletion!), { kind: "delete", key: "/e/a", value: "v", revision: result.revision + 1, createRevision: result.revision });
    assert.equal(await store.get("/e/a"), undefined);
  });

  it("goes by the lifetime that was written last", async () => {
    const { store, clock } = await open();
    await using _closing = store;
    const put60 = (key: string, expected: number, ttlSeconds: number) => committed(store.commit({ kind: "put", key, value: bytes("v"), expected, ttlSeconds }));
    const longer = await put60("/e/longer", 0, 60);
    const kept = await put60("/e/kept", 0, 60);
    const shorter = await put60("/e/shorter", 0, 600);
    const replaced = await put60("/e/replaced", 0, 60);
    await put60("/e/longer", longer, 120);
    await put(store, "/e/kept", "v", kept);
    await put60("/e/shorter", shorter, 10);
    await remove(store, "/e/replaced", replaced);
    await put(store, "/e/replaced", "v", 0);
    const left = async () => (await store.range("/e/")).items.map((item) => item.key);
    // Deletions of a durable store end outside of virtual time: the next commit is answered behind them.
    const advance = async (ms: number) => {
      await clock.advance(ms);
      await put(store, "/nothing", "v", -1);
    };
    await advance(10_000);
    assert.deepEqual(await left(), ["/e/kept", "/e/longer", "/e/replaced"]);
    await advance(50_000);
    assert.deepEqual(await left(), ["/e/kept", "/e/longer", "/e/replaced"]);
    await advance(60_000);
    assert.deepEqual(await left(), ["/e/kept", "/e/replaced"]);
  });
}

function ending(open: OpenStore): void {
  it("refuses everything after it was closed, and ends its watches", async () => {
    const { store } = await open();
    const next = store
      .watch("/", await store.revision(), new AbortController().signal)
      [Symbol.asyncIterator]()
      .next();
    const isClosed = (error: unknown) => error instanceof StoreError && error.reason === "Closed";
    const ended = assert.rejects(next, isClosed);
    await store.close();
    await store.close();
    await ended;
    await assert.rejects(store.get("/a"), isClosed);
    await assert.rejects(put(store, "/a", "v", 0), isClosed);
    await assert.rejects(store.range("/"), isClosed);
  });

  it("answers everything when it is closed", async () => {
    const { store } = await open();
    const results = Promise.allSettled(Array.from({ length: 20 }, (_, index) => put(store, `/k/${index}`, "v", 0)));
    await store.close();
    for (const result of await results) {
      assert.ok(result.status === "fulfilled" ? result.value.isCommitted : result.reason instanceof StoreError);
    }
  });
}

function put(store: Store, key: string, value: string, expected: number): Promise<MutationResult> {
  return store.commit({ kind: "put", key, value: bytes(value), expected });
}

function remove(store: Store, key: string, expected: number): Promise<MutationResult> {
  return store.commit({ kind: "delete", key, expected });
}

async function committed(result: Promise<MutationResult>): Promise<number> {
  const { isCommitted, revision } = await result;
  assert.equal(isCommitted, true);
  return revision;
}

/** The first `count` events under `prefix` after `after`. */
async function collect(store: Store, prefix: string, after: number, count: number): Promise<StoreEvent[]> {
  const events: StoreEvent[] = [];
  const abort = new AbortController();
  for await (const batch of store.watch(prefix, after, abort.signal)) {
    assert.ok(batch.events.every((event) => event.revision <= batch.revision));
    events.push(...batch.events);
    if (events.length >= count) abort.abort();
  }
  return events;
}

const bytes = (value: string) => new TextEncoder().encode(value);
const text = (value: Uint8Array) => new TextDecoder().decode(value);

function plain<T extends { readonly value: Uint8Array }>(stored: T | undefined): object | undefined {
  return stored === undefined ? undefined : { ...stored, value: text(stored.value) };
}

function plainEvent(event: StoreEvent): object {
  return { ...event, value: text(event.value) };
}
