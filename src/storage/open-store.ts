import type { Clock } from "../base/clock.ts";
import { unreachable } from "../base/invariant.ts";
import type { Log } from "../base/log.ts";
import { openEtcdStore } from "./etcd-store.ts";
import type { EtcdTls } from "./etcd/connection.ts";
import { openLmdbStore } from "./lmdb-store.ts";
import { openMemoryStore } from "./memory-store.ts";
import type { Store } from "./store.ts";

/** Opens the store that `backend` names. Throws StoreError with one line that says what is wrong and what to do. */
export async function openStore(options: StoreOptions): Promise<Store> {
  switch (options.backend) {
    case "memory":
      return openMemoryStore(options);
    case "lmdb":
      return openLmdbStore(options);
    case "etcd":
      return openEtcdStore(options);
    default:
      return unreachable(options);
  }
}

export type StoreOptions = { readonly clock: Clock; readonly logger?: Log } & (
  | { readonly backend: "memory" }
  | { readonly backend: "lmdb"; readonly directory: string; readonly verifyCommand?: readonly string[] }
  | { readonly backend: "etcd"; readonly endpoints: readonly string[]; readonly tls?: EtcdTls }
);
