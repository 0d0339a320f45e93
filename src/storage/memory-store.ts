import type { Clock } from "../base/clock.ts";
import type { WindowLimits } from "./event-window.ts";
import { Mvcc } from "./mvcc.ts";
import { defaultWindow, SequencedStore } from "./sequenced-store.ts";
import { StoreError, type Store } from "./store.ts";

/** A store in memory. Everything it does completes in promise jobs, so that a virtual clock sees it as instantaneous. Starts at revision 1, as etcd. */
export function openMemoryStore(options: MemoryStoreOptions): Store {
  const mvcc = new Mvcc(1, options.window ?? defaultWindow, (version) => {
    throw new StoreError("Corrupt", `the value of ${version.key} is gone`);
  });
  return new SequencedStore({
    backend: "memory",
    clock: options.clock,
    journal: { append: () => undefined },
    mvcc,
    ...(options.quotaBytes !== undefined && { quotaBytes: options.quotaBytes }),
  });
}

export interface MemoryStoreOptions {
  readonly clock: Clock;
  readonly window?: WindowLimits;
  /** Bytes of keys and values above which puts are refused as `Full`; 8 GiB when absent. */
  readonly quotaBytes?: number;
}
