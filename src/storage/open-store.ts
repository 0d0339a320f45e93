import { unreachable } from "../base/invariant.ts";
import type { Log } from "../base/log.ts";
import type { EtcdStoreOptions } from "./etcd-store.ts";
import type { LmdbStoreOptions } from "./lmdb-store.ts";
import { openMemoryStore, type MemoryStoreOptions } from "./memory-store.ts";
import type { Store } from "./store.ts";

/** Opens the store that `backend` names, and loads no other. Throws StoreError with one line that says what is wrong and what to do. */
export async function openStore(options: StoreOptions): Promise<Store> {
  switch (options.backend) {
    case "memory":
      return openMemoryStore(options);
    case "lmdb":
      return (await import("./lmdb-store.ts")).openLmdbStore(options);
    case "etcd":
      return (await import("./etcd-store.ts")).openEtcdStore(options);
    default:
      return unreachable(options);
  }
}

export type StoreOptions = { readonly logger?: Log } & (
  | ({ readonly backend: "memory" } & MemoryStoreOptions)
  | ({ readonly backend: "lmdb" } & LmdbStoreOptions)
  | ({ readonly backend: "etcd" } & EtcdStoreOptions)
);
