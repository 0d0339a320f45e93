import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { openLmdbStore } from "./lmdb-store.ts";
import { openMemoryStore } from "./memory-store.ts";
import type { Store } from "./store.ts";

/** Opens the store that `backend` names. Throws StoreError with one line that says what is wrong and what to do. */
export async function openStore(options: StoreOptions): Promise<Store> {
  return options.backend === "memory" ? openMemoryStore(options) : openLmdbStore(options);
}

export type StoreOptions = { readonly clock: Clock; readonly logger?: Log } & (
  | { readonly backend: "memory" }
  | { readonly backend: "lmdb"; readonly directory: string; readonly verifyCommand?: readonly string[] }
);
