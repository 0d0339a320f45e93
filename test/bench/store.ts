/**
 * `npm run bench store [-- KEYS]`: creates of 1 KB, durable, with 1 client and with 100 in flight, beside KEYS keys (default 150,000) and in
 * an empty store. Compares LMDB alone (one flushed transaction for each group) with our store (a log, LMDB as its checkpoint), which
 * is the comparison that the store's design was decided by. Exits 1 when our store is over its budget.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { open } from "lmdb";

import { systemClock } from "../../src/base/clock.ts";
import { openStore } from "../../src/storage/index.ts";

const keys = Number(process.argv[2] ?? 150_000);
const clock = systemClock({ keepAlive: true });
const value = Buffer.alloc(1024, "a value of one kilobyte ");
const budget = { oneClientMs: 0.7, perSecond: 15_000 };

type Create = (key: string) => Promise<unknown>;
interface Candidate {
  readonly name: string;
  open(directory: string): Promise<{ create: Create; close(): Promise<void> }>;
}

const lmdbAlone: Candidate = {
  name: "LMDB alone",
  async open(directory) {
    const database = open<Buffer, Buffer>(join(directory, "data.mdb"), { encoding: "binary", keyEncoding: "binary", cache: false, overlappingSync: false });
    const waiting: { key: string; resolve: () => void }[] = [];
    let isRunning = false;
    const run = async () => {
      isRunning = true;
      while (waiting.length > 0) {
        const group = waiting.splice(0, 1_000);
        await database.batch(() => {
          for (const { key } of group) void database.put(Buffer.from(key), value);
        });
        for (const { resolve } of group) resolve();
      }
      isRunning = false;
    };
    const create: Create = (key) =>
      new Promise<void>((resolve) => {
        waiting.push({ key, resolve });
        if (!isRunning) queueMicrotask(() => isRunning || void run());
      });
    return { create, close: () => database.close() };
  },
};

const ours = (backend: "lmdb" | "memory"): Candidate => ({
  name: backend === "lmdb" ? "log and LMDB (ours)" : "memory (ours)",
  async open(directory) {
    const store = await openStore(backend === "lmdb" ? { backend, directory, clock } : { backend, clock });
    return { create: (key) => store.commit({ kind: "put", key, value, expected: 0 }), close: () => store.close() };
  },
});

const rows: Record<string, string | number>[] = [];
for (const existing of [0, keys]) for (const candidate of [lmdbAlone, ours("lmdb"), ours("memory")]) rows.push(await measure(candidate, existing));
console.table(rows);
console.log(JSON.stringify(rows));
const failed = rows.filter(
  (row) => row.store === "log and LMDB (ours)" && (Number(row["1 client p50 ms"]) > budget.oneClientMs || Number(row["100 in flight /s"]) < budget.perSecond),
);
for (const row of failed) console.error(`over budget (${budget.oneClientMs} ms, ${budget.perSecond}/s): ${JSON.stringify(row)}`);
process.exitCode = failed.length > 0 ? 1 : 0;

async function measure(candidate: Candidate, existing: number): Promise<Record<string, string | number>> {
  const directory = await mkdtemp(join(tmpdir(), "coracle-bench-store-"));
  try {
    const { create, close } = await candidate.open(directory);
    let index = 0;
    const nextKey = () => `/registry/configmaps/default/${(Math.imul(index, 2_654_435_761) >>> 0).toString(36)}-${index++}`;
    await inFlight(2_000, Math.max(existing, 2_000), () => create(nextKey()));
    const latencies: number[] = [];
    for (let count = 0; count < 1_000; count++) {
      const startMs = clock.monotonicMs();
      await create(nextKey());
      latencies.push(clock.monotonicMs() - startMs);
    }
    latencies.sort((a, b) => a - b);
    const creates = 30_000;
    const cpuBefore = process.cpuUsage();
    const startMs = clock.monotonicMs();
    await inFlight(100, creates, () => create(nextKey()));
    const seconds = (clock.monotonicMs() - startMs) / 1_000;
    const cpu = process.cpuUsage(cpuBefore);
    await close();
    return {
      store: candidate.name,
      "keys before": existing,
      "1 client p50 ms": Number(latencies[500]!.toFixed(3)),
      "1 client p99 ms": Number(latencies[990]!.toFixed(3)),
      "100 in flight /s": Math.round(creates / seconds),
      "CPU µs each": Math.round((cpu.user + cpu.system) / creates),
    };
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Does `work` `count` times, `width` at once. */
async function inFlight(width: number, count: number, work: () => Promise<unknown>): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (left-- > 0) await work();
    }),
  );
}
