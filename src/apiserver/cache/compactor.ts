import type { Clock } from "../../base/clock.ts";
import { sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Store } from "../../storage/index.ts";

/**
 * Lets the store forget, each time `intervalMs` (flag `--etcd-compaction-interval`) has passed, what was history already when it had
 * passed before: between one and two intervals of history remain. Runs until aborted. What fails is made up for the next time.
 */
export async function compactHistory(store: Store, intervalMs: number, { clock, log, signal }: CompactorOptions): Promise<void> {
  let due: number | undefined;
  while (!signal.aborted) {
    try {
      const next = await store.revision();
      if (due !== undefined) await store.compact(due);
      due = next;
    } catch (error) {
      if (!signal.aborted) log.warn("Could not compact the store's history", { revision: due, error });
    }
    await sleep(clock, intervalMs, signal).catch(() => undefined);
  }
}

export interface CompactorOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}
