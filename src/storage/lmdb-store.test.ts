import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { seededRandom } from "../base/random.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import { openDurableFile, type OpenDurableFile } from "./lmdb/durable-file.ts";
import { openLmdbStore, type LmdbStoreOptions } from "./lmdb-store.ts";
import { storeConformance } from "./store-conformance.ts";
import { CompactedError, StoreError, type Store, type StoreEvents } from "./store.ts";

const root = await mkdtemp(join(tmpdir(), "coracle-lmdb-store-"));
after(() => rm(root, { recursive: true }));
let directories = 0;
const newDirectory = () => join(root, String(directories++));

storeConformance("lmdb store", async () => {
  const clock = new VirtualClock();
  return { store: await openLmdbStore({ directory: newDirectory(), clock }), clock };
});

storeConformance("lmdb store that checkpoints all the time", async () => {
  const clock = new VirtualClock();
  return { store: await openLmdbStore({ directory: newDirectory(), clock, checkpointBytes: 500 }), clock };
});

describe("lmdb store", () => {
  it("has everything after it was closed and opened, but no history", async () => {
    const directory = newDirectory();
    const first = await open(directory);
    const created = await put(first, "/a", "1", 0);
    await put(first, "/a", "2", created);
    const last = await put(first, "/b", "3", 0);
    await first.close();
    await using store = await open(directory);
    assert.equal(await store.revision(), last);
    const { items } = await store.range("/");
    assert.deepEqual(items.map((item) => [item.key, text(item.value), item.createRevision, item.modRevision]), [
      ["/a", "2", created, created + 1],
      ["/b", "3", last, last],
    ]);
    await assert.rejects(store.range("/", { revision: last - 1 }), CompactedError);
    assert.equal(await put(store, "/c", "4", 0), last + 1);
  });

  it("deletes after the start what expired while it was closed", async () => {
    const directory = newDirectory();
    const clock = new VirtualClock();
    const first = await openLmdbStore({ directory, clock });
    await first.commit({ kind: "put", key: "/e", value: Buffer.from("v"), expected: 0, ttlSeconds: 60 });
    const revision = await first.revision();
    await first.close();
    await clock.advance(61_000);
    await using store = await openLmdbStore({ directory, clock });
    const abort = new AbortController();
    const next = store.watch("/e", revision, abort.signal)[Symbol.asyncIterator]().next();
    await clock.advance(0);
    const batch: StoreEvents = (await next).value;
    assert.deepEqual(batch.events.map((event) => [event.kind, event.key]), [["delete", "/e"]]);
    abort.abort();
  });

  for (const seed of [1, 2, 3]) {
    it(`agrees with a map over random mutations, checkpoints and restarts (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      const directory = newDirectory();
      const model = new Map<string, { value: string; revision: number }>();
      for (let round = 0; round < 6; round++) {
        const options = { checkpointBytes: 500 + random.integer(20_000), window: { maxEvents: 1 + random.integer(50), maxBytes: 1_000_000 } };
        await using store = await open(directory, options);
        for (let step = 0; step < 100; step++) await mutate(store, model, random.integer(8) + 1, random.integer.bind(random));
        const { items } = await store.range("/");
        const expected = [...model].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, { value, revision }]) => [key, value, revision]);
        assert.deepEqual(items.map((item) => [item.key, text(item.value), item.modRevision]), expected);
      }
    });
  }
});

describe("lmdb store on a disk with faults", () => {
  it("refuses a group that does not fit as a whole, and goes on when there is room", async () => {
    const disk = fullDisk();
    await using store = await open(newDirectory(), { openFile: disk.openFile });
    const base = await put(store, "/a", "1", 0);
    const abort = new AbortController();
    const watch = store.watch("/", base, abort.signal)[Symbol.asyncIterator]();
    const firstBatch = watch.next();
    disk.room = 10;
    const commits = [
      store.commit({ kind: "put", key: "/a", value: Buffer.from("lost"), expected: base }),
      store.commit({ kind: "put", key: "/b", value: Buffer.from("lost"), expected: 0 }),
      store.commit({ kind: "put", key: "/a", value: Buffer.from("won after all"), expected: base }),
    ];
    disk.onFull = () => {
      disk.room = Number.POSITIVE_INFINITY;
    };
    const [first, second, third] = await Promise.allSettled(commits);
    for (const refused of [first, second]) {
      assert.ok(refused?.status === "rejected" && refused.reason instanceof StoreError && refused.reason.reason === "Full");
      assert.equal(refused.reason.message, "etcdserver: mvcc: database space exceeded");
    }
    assert.deepEqual(third, { status: "fulfilled", value: { isCommitted: true, revision: base + 1 } });
    const { events }: StoreEvents = (await firstBatch).value;
    assert.deepEqual(events.map((event) => [event.key, text(event.value)]), [["/a", "won after all"]]);
    assert.equal(await store.get("/b"), undefined);
    abort.abort();
  });

  it("leaves nothing of a refused group for the next start", async () => {
    const disk = fullDisk();
    const directory = newDirectory();
    const store = await open(directory, { openFile: disk.openFile });
    await put(store, "/a", "1", 0);
    disk.room = 30;
    await assert.rejects(put(store, "/b", "2", 0), { reason: "Full" });
    await store.close();
    await using again = await open(directory);
    assert.deepEqual((await again.range("/")).items.map((item) => item.key), ["/a"]);
  });

  it("refuses writes until the log can be cut back, and then goes on", async () => {
    const disk = fullDisk();
    await using store = await open(newDirectory(), { openFile: disk.openFile });
    disk.room = 10;
    disk.canTruncate = false;
    await assert.rejects(put(store, "/a", "1", 0), { reason: "Unavailable" });
    disk.room = Number.POSITIVE_INFINITY;
    await assert.rejects(put(store, "/a", "1", 0), { reason: "Unavailable" });
    disk.canTruncate = true;
    assert.equal(await put(store, "/a", "1", 0), (await store.revision()));
  });
});

describe("lmdb store that is not to be opened", () => {
  const cases: { name: string; damage: (directory: string) => Promise<unknown>; reason: StoreError["reason"]; message: RegExp }[] = [
    {
      name: "a newer format",
      damage: (directory) => writeFile(join(directory, "format"), "coracle-store 2\n"),
      reason: "Unavailable",
      message: /was written by a newer version \(format 2, this one reads 1\); run that version$/,
    },
    { name: "an unreadable format", damage: (directory) => writeFile(join(directory, "format"), "?"), reason: "Corrupt", message: /format is damaged; restore/ },
    { name: "a missing format", damage: (directory) => rm(join(directory, "format")), reason: "Corrupt", message: /has no file format; restore/ },
    { name: "a missing checkpoint", damage: (directory) => rm(join(directory, "checkpoint.mdb")), reason: "Corrupt", message: /has a log but no checkpoint\.mdb; restore/ },
    {
      name: "a checkpoint that is cut off",
      damage: (directory) => truncate(join(directory, "checkpoint.mdb"), 12_288),
      reason: "Corrupt",
      message: /checkpoint\.mdb is cut off \(12288 bytes instead of \d+\); restore/,
    },
    { name: "an empty checkpoint", damage: (directory) => truncate(join(directory, "checkpoint.mdb"), 0), reason: "Corrupt", message: /checkpoint\.mdb is damaged \(it has no meta page\); restore/ },
    {
      name: "a checkpoint with a damaged value",
      damage: (directory) => overwrite(join(directory, "checkpoint.mdb"), "value of a stored object 7", "value of a stored object X"),
      reason: "Corrupt",
      message: /checkpoint\.mdb is damaged \(the value of \/k\/7 has a wrong checksum\); restore/,
    },
    {
      name: "a checkpoint whose pages are noise",
      damage: async (directory) => {
        const path = join(directory, "checkpoint.mdb");
        const bytes = await readFile(path);
        await writeFile(path, Buffer.concat([bytes.subarray(0, 8_192), Buffer.from(seededRandom(7).bytes(bytes.length - 8_192))]));
      },
      reason: "Corrupt",
      message: /checkpoint\.mdb is damaged \(.+\); restore/,
    },
    {
      name: "a log with damage before its end",
      damage: (directory) => overwriteLog(directory, "logged value 3", "logged value X"),
      reason: "Corrupt",
      message: /log-\d{16} is damaged \(the group at byte \d+ has a wrong checksum\); restore/,
    },
    { name: "other files", damage: async (directory) => { await rm(directory, { recursive: true }); await mkdir(directory); await writeFile(join(directory, "notes.txt"), "mine"); }, reason: "Unavailable", message: /holds other files; choose an empty data directory$/ },
    { name: "a file in its place", damage: async (directory) => { await rm(directory, { recursive: true }); await writeFile(directory, "a file"); }, reason: "Unavailable", message: /^the data directory cannot be used: .+; correct its permissions, or choose another one$/ },
  ];

  for (const { name, damage, reason, message } of cases) {
    it(`says what to do about ${name}, and changes nothing`, async () => {
      const directory = newDirectory();
      await cp(await soundDirectory(), directory, { recursive: true });
      await damage(directory);
      const before = await fingerprint(directory);
      await assert.rejects(open(directory), (error: unknown) => {
        assert.ok(error instanceof StoreError);
        assert.match(error.message, message);
        assert.ok(!error.message.includes("\n"));
        assert.equal(error.reason, reason);
        return true;
      });
      assert.deepEqual(await fingerprint(directory), before);
    });
  }

  it("says who uses the directory: this process", async () => {
    const directory = newDirectory();
    await using _store = await open(directory);
    await assert.rejects(open(directory), { reason: "Unavailable", message: `${directory} is in use by process ${process.pid}; stop it, or choose another data directory` });
  });

  it("says who uses the directory: another process, until it ends", async () => {
    const directory = newDirectory();
    const writer = startWriter(directory, 1);
    await writer.acknowledged(1);
    await assert.rejects(open(directory), { reason: "Unavailable", message: `${directory} is in use by process ${writer.pid}; stop it, or choose another data directory` });
    await writer.kill();
    await (await open(directory)).close();
  });

  it("cuts off a group that a crash left half written", async () => {
    const directory = newDirectory();
    await cp(await soundDirectory(), directory, { recursive: true });
    const log = (await readdir(directory)).findLast((name) => name.startsWith("log-"))!;
    const bytes = await readFile(join(directory, log));
    await writeFile(join(directory, log), bytes.subarray(0, bytes.length - 5));
    const store = await open(directory);
    const revision = await store.revision();
    assert.equal(await store.get("/log/4"), undefined);
    assert.equal(await put(store, "/log/4", "again", 0), revision + 1);
    await store.close();
    await using again = await open(directory);
    assert.equal(text((await again.get("/log/4"))!.value), "again");
  });
});

describe("lmdb store that is killed", () => {
  it("has every acknowledged write, at whatever moment it was killed", async () => {
    const random = seededRandom(42);
    const directory = newDirectory();
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < 6; round++) {
      const writer = startWriter(directory, round);
      await writer.acknowledged(1 + random.integer(400));
      await writer.kill();
      for (const [key, value] of writer.values) acknowledged.set(key, value);
      await using store = await open(directory);
      for (const [key, value] of acknowledged) {
        const stored = await store.get(key);
        // The write after the last acknowledged one may have become durable too.
        assert.ok(stored !== undefined && Number.parseInt(text(stored.value), 10) >= value, `round ${round}: ${key} is below ${value}`);
      }
      assert.ok((await store.revision()) >= writer.revision);
    }
  });
});

function open(directory: string, options: Partial<LmdbStoreOptions> = {}): Promise<Store> {
  return openLmdbStore({ directory, clock: new VirtualClock(), ...options });
}

async function put(store: Store, key: string, value: string, expected: number): Promise<number> {
  const result = await store.commit({ kind: "put", key, value: Buffer.from(value), expected });
  assert.equal(result.isCommitted, true);
  return result.revision;
}

const text = (value: Uint8Array) => new TextDecoder().decode(value);

/** Commits `count` random mutations at once, of different keys, and does the same to the model. */
async function mutate(store: Store, model: Map<string, { value: string; revision: number }>, count: number, integer: (bound: number) => number): Promise<void> {
  const keys = new Set(Array.from({ length: count }, () => `/k/${integer(60)}`));
  await Promise.all([...keys].map(async (key) => {
    const expected = model.get(key)?.revision ?? 0;
    const value = `${key} ${integer(1_000_000)} `.repeat(1 + integer(30));
    const isDelete = expected > 0 && integer(3) === 0;
    const result = await store.commit(isDelete ? { kind: "delete", key, expected } : { kind: "put", key, value: Buffer.from(value), expected });
    assert.equal(result.isCommitted, true);
    if (isDelete) model.delete(key);
    else model.set(key, { value, revision: result.revision });
  }));
  const [key] = keys;
  const stored = await store.get(key!);
  assert.equal(stored && text(stored.value), model.get(key!)?.value);
}

/** A disk that takes `room` more bytes, and then fails in the middle of a write. */
function fullDisk() {
  const disk = { room: Number.POSITIVE_INFINITY, canTruncate: true, onFull: () => {}, openFile: undefined as unknown as OpenDurableFile };
  disk.openFile = async (path, mode) => {
    const file = await openDurableFile(path, mode);
    return {
      async write(bytes, offset) {
        if (bytes.length <= disk.room) {
          disk.room -= bytes.length;
          return file.write(bytes, offset);
        }
        await file.write(bytes.subarray(0, disk.room), offset);
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
      },
      async truncate(length) {
        if (!disk.canTruncate) throw Object.assign(new Error("EIO: i/o error, ftruncate"), { code: "EIO" });
        await file.truncate(length);
        disk.onFull();
      },
      close: () => file.close(),
    };
  };
  return disk;
}

let sound: Promise<string> | undefined;

/** A directory with 50 keys in the checkpoint and five in the log, closed. */
function soundDirectory(): Promise<string> {
  sound ??= (async () => {
    const directory = newDirectory();
    const first = await open(directory, { checkpointBytes: 500 });
    for (let index = 0; index < 50; index++) await put(first, `/k/${index}`, `value of a stored object ${index} `, 0);
    await first.close();
    const second = await open(directory);
    for (let index = 0; index < 5; index++) await put(second, `/log/${index}`, `logged value ${index} `, 0);
    await second.close();
    return directory;
  })();
  return sound;
}

async function overwrite(path: string, from: string, to: string): Promise<void> {
  const bytes = await readFile(path);
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) bytes.write(to, at);
  await writeFile(path, bytes);
}

async function overwriteLog(directory: string, from: string, to: string): Promise<void> {
  for (const name of await readdir(directory)) if (name.startsWith("log-")) await overwrite(join(directory, name), from, to);
}

/** Names and contents of a directory, LMDB's lock file apart. */
async function fingerprint(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => undefined);
  if (names === undefined) return [await readFile(directory, "utf8")];
  const hash = async (name: string) => createHash("sha256").update(await readFile(join(directory, name))).digest("hex");
  return Promise.all(names.filter((name) => !name.endsWith("-lock")).toSorted().map(async (name) => `${name} ${await hash(name)}`));
}

/** A process that writes to `directory` and prints what was acknowledged, until it is killed. */
function startWriter(directory: string, round: number) {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./lmdb/crash-writer.ts", import.meta.url)), directory, String(round)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env.PATH },
  });
  const exited = once(child, "exit");
  const values = new Map<string, number>();
  const writer = {
    pid: child.pid!,
    values,
    revision: 0,
    /** Resolves after `count` acknowledgements. */
    async acknowledged(count: number): Promise<void> {
      let seen = 0;
      await new Promise<void>((resolve, reject) => {
        exited.then(() => reject(new Error("the writer ended by itself")));
        createInterface({ input: child.stdout }).on("line", (line) => {
          const [key, value, revision] = line.split(" ");
          values.set(key!, Number(value));
          writer.revision = Math.max(writer.revision, Number(revision));
          if (++seen === count) resolve();
        });
      });
    },
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await Promise.all([exited, child.stdout.closed ? undefined : once(child.stdout, "close")]);
    },
  };
  return writer;
}
