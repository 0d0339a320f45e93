export { openStore, type StoreOptions } from "./open-store.ts";
export { openMemoryStore } from "./memory-store.ts";
export { openEtcdStore, type EtcdStoreOptions } from "./etcd-store.ts";
export type { EtcdTls } from "./etcd/connection.ts";
export { openLmdbStore, type LmdbStoreOptions } from "./lmdb-store.ts";
export { CompactedError, StoreError } from "./store.ts";
export type { Mutation, MutationResult, RangeOptions, RangeResult, Store, StoredValue, StoreEvent, StoreEvents } from "./store.ts";
export type { WindowLimits } from "./event-window.ts";
