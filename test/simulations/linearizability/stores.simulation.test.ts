/** The embedded stores are linearizable, whatever falls over meanwhile; and a store that is not is found out. */
import { equal, notEqual } from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../src/base/random.ts";
import { VirtualClock } from "../../../src/base/virtual-clock.ts";
import { openMemoryStore } from "../../../src/storage/index.ts";
import { openDurableFile } from "../../../src/storage/lmdb/durable-file.ts";
import { testDirectories } from "../../../src/storage/lmdb/test-directories.ts";
import { openLmdbStore } from "../../../src/storage/lmdb-store.ts";
import { FaultStore } from "../../../src/testing/fault-store.ts";
import { seedsOr } from "../../../src/testing/seeds.ts";
import { brokenStores } from "./broken-stores.ts";
import { checkSubject } from "./check-subject.ts";
import { storeSubject } from "./store-subject.ts";

const newDirectory = await testDirectories();
const seeds = Array.from({ length: seedsOr(3) }, (_, index) => index + 1);

test("linearizable: the memory store, whose commits fail before and after they happen, and whose history goes", async () => {
  for (const seed of seeds) {
    const rates = { failBefore: 0.03, failAfter: 0.1, compact: 0.02 };
    await using store = new FaultStore(openMemoryStore({ clock: new VirtualClock() }), { random: seededRandom(seed), clock: new VirtualClock(), rates });
    const crash = async () => {
      store.crash();
      store.recover();
    };
    equal(
      await checkSubject(
        storeSubject(() => store, crash),
        seed,
      ),
      undefined,
      `seed ${seed}`,
    );
  }
});

test("linearizable: the lmdb store, whose power goes in the middle of a write", { timeout: 3_600_000 }, async () => {
  for (const seed of seeds) {
    const directory = newDirectory();
    const disk = new FailingDisk(seed);
    const open = () => openLmdbStore({ directory, clock: new VirtualClock(), random: seededRandom(seed), openFile: disk.open, checkpointBytes: 2000 });
    let store = await open();
    const crash = async () => {
      disk.fail();
      await store.close();
      disk.mend();
      store = await open();
    };
    equal(
      await checkSubject(
        storeSubject(() => store, crash),
        seed,
      ),
      undefined,
      `seed ${seed}`,
    );
    await store.close();
  }
});

for (const [fault, broken] of Object.entries(brokenStores)) {
  test(`linearizable: a store that ${fault} is caught`, async () => {
    for (const seed of seeds.slice(0, 20)) {
      await using store = broken(openMemoryStore({ clock: new VirtualClock() }), seededRandom(seed));
      notEqual(
        await checkSubject(
          storeSubject(
            () => store,
            () => Promise.resolve(),
          ),
          seed,
          { crashes: 0 },
        ),
        undefined,
        `seed ${seed}`,
      );
    }
  });
}

/** The log's disk. Once it fails, the write under way leaves a random part of its bytes, and nothing comes after it. */
class FailingDisk {
  readonly #random;
  #hasFailed = false;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  fail(): void {
    this.#hasFailed = true;
  }

  mend(): void {
    this.#hasFailed = false;
  }

  readonly open: typeof openDurableFile = async (path, mode) => {
    this.#refuse();
    const file = await openDurableFile(path, mode);
    return {
      write: async (bytes, offset) => {
        if (this.#hasFailed) await file.write(bytes.subarray(0, this.#random.integer(bytes.length)), offset);
        this.#refuse();
        await file.write(bytes, offset);
        // Written, and yet nobody hears of it.
        this.#refuse();
      },
      truncate: async (length) => {
        this.#refuse();
        await file.truncate(length);
      },
      close: () => file.close(),
    };
  };

  #refuse(): void {
    if (this.#hasFailed) throw Object.assign(new Error("EIO: i/o error, write"), { code: "EIO" });
  }
}
