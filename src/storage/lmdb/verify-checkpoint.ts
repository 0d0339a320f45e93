/**
 * `node verify-checkpoint.ts DIRECTORY`: walks the whole checkpoint and checks each value, in a process of its own, because a damaged map
 * ends the process that reads it (SIGBUS, SIGSEGV). Prints one line of JSON: CheckpointReport.
 */
import { Checkpoint } from "./checkpoint.ts";
import { isIntact } from "./record.ts";

export interface CheckpointReport {
  readonly revision: number;
  readonly count: number;
  /** Key of the first value whose checksum is wrong. */
  readonly damagedKey?: string;
  readonly owner?: string;
}

if (import.meta.main) {
  process.stdout.write(`${JSON.stringify(await verifyCheckpoint(process.argv[2]!))}\n`);
}

/** Walks the checkpoint of `directory`, which exists. Throws what LMDB throws. */
export async function verifyCheckpoint(directory: string): Promise<CheckpointReport> {
  const checkpoint = new Checkpoint(directory, { readOnly: true });
  try {
    const owner = checkpoint.owner;
    let count = 0;
    let damagedKey: string | undefined;
    for (const { key, record } of checkpoint.records()) {
      count++;
      if (damagedKey === undefined && !isIntact(key, record)) damagedKey = key.toString("utf8");
    }
    return { revision: checkpoint.revision, count, ...(damagedKey !== undefined && { damagedKey }), ...(owner !== undefined && { owner }) };
  } finally {
    await checkpoint.close();
  }
}
