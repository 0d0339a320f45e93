/**
 * `node crash-writer.ts DIRECTORY ROUND`: the victim of the crash test. Writers count up numbers under keys of their own and print
 * `KEY NUMBER REVISION` for each acknowledged one, until the process is killed.
 */
import { writeSync } from "node:fs";

import { systemClock } from "../../base/clock.ts";
import { openLmdbStore } from "../lmdb-store.ts";

const store = await openLmdbStore({ directory: process.argv[2]!, clock: systemClock(), checkpointBytes: 20_000 });
const round = process.argv[3]!;

async function count(key: string): Promise<void> {
  let revision = 0;
  for (let number = 0; ; number++) {
    const result = await store.commit({ kind: "put", key, value: Buffer.from(`${number} ${"x".repeat(number % 500)}`), expected: revision });
    if (!result.isCommitted) throw new Error(`${key} was changed by someone else`);
    revision = result.revision;
    // Synchronous, so that what was acknowledged is in the pipe whatever happens next.
    writeSync(1, `${key} ${number} ${revision}\n`);
  }
}

await Promise.all(Array.from({ length: 10 }, (_, index) => count(`/round-${round}/writer-${index}`)));
