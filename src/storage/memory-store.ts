import type { Clock } from "../base/clock.ts";
import type { WindowLimits } from "./event-window.ts";
import { Mvcc } from "./mvcc.ts";
import { defaultWindow, SequencedStore } from "./sequenced-store.ts";
import type { Store } from "./store.ts";
import { StoreError } from "./store.ts";

/** A store in memory. Everything it does completes in promise jobs, so that a virtual clock sees it as instantaneous. Starts at revision 1, as etcd. */
export function openMemoryStore(options: { clock: Clock; window?: WindowLimits; quotaBytes?: number }): Store {
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
