import type { Clock } from "../base/clock.ts";
import type { WindowLimits } from "./event-window.ts";
import { Mvcc } from "./mvcc.ts";
import { defaultWindow, SequencedStore } from "./sequenced-store.ts";
import { StoreError, type RangeResult, type Store } from "./store.ts";

/**
 * A store in memory. Everything it does completes in promise jobs, so that a virtual clock sees it as instantaneous. Starts at revision 1,
 * as etcd, or with what another store held.
 */
export function openMemoryStore(options: MemoryStoreOptions): Store {
  const { image } = options;
  const mvcc = new Mvcc(image?.revision ?? 1, options.window ?? defaultWindow, (version) => {
    throw new StoreError("Corrupt", `the value of ${version.key} is gone`);
  });
  for (const item of image?.items ?? []) mvcc.restore({ ...item, valueBytes: item.value.length, isDeleted: false, expiresAtMs: 0, previous: undefined });
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
  /** What to start with: a range of another store. Its keys do not expire; its history is not known. */
  readonly image?: StoreImage;
}

/** Values are shared with whoever else has them: nobody changes them. */
export type StoreImage = Pick<RangeResult, "items" | "revision">;
