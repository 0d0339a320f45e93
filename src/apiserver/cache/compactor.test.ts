import { test } from "node:test";
import { deepEqual, rejects } from "node:assert/strict";
import { silentLog } from "../../base/log.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { CompactedError, StoreError, openMemoryStore } from "../../storage/index.ts";
import { compactHistory } from "./compactor.ts";

const minuteMs = 60_000;

test("compaction: between one and two intervals of history remain, and a failure is made up for", async () => {
  const clock = new VirtualClock();
  await using store = openMemoryStore({ clock });
  const put = async (key: string) => (await store.commit({ kind: "put", key, value: Buffer.from("v"), expected: 0 })).revision;
  const done = new AbortController();
  let failures = 0;
  const failing = {
    ...store,
    revision: () => store.revision(),
    compact: (revision: number) => (failures-- > 0 ? Promise.reject(new StoreError("Unavailable", "later")) : store.compact(revision)),
  } as typeof store;
  const running = compactHistory(failing, 5 * minuteMs, { clock, log: silentLog, signal: done.signal });
  const readable = (revision: number) =>
    store.range("/", { revision }).then(
      () => true,
      (error: unknown) => (error instanceof CompactedError ? false : Promise.reject(error)),
    );

  const atStart = await put("/a");
  await clock.advance(5 * minuteMs);
  const afterFive = await put("/b");
  deepEqual([await readable(atStart), await readable(afterFive)], [true, true]);
  await clock.advance(5 * minuteMs);
  const afterTen = await put("/c");
  deepEqual([await readable(atStart - 1), await readable(atStart), await readable(afterFive)], [false, true, true]);
  failures = 1;
  await clock.advance(5 * minuteMs);
  deepEqual([await readable(atStart), await readable(afterFive)], [true, true]);
  await clock.advance(5 * minuteMs);
  deepEqual([await readable(atStart), await readable(afterFive), await readable(afterTen)], [false, true, true]);
  await clock.advance(5 * minuteMs);
  deepEqual([await readable(afterFive), await readable(afterTen)], [false, true]);
  done.abort();
  await running;
  await rejects(store.range("/", { revision: afterTen + 1 }), StoreError);
});
