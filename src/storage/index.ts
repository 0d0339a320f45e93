export { openStore, type StoreOptions } from "./open-store.ts";
export { openMemoryStore, type MemoryStoreOptions, type StoreImage } from "./memory-store.ts";
export type { LmdbStoreOptions } from "./lmdb-store.ts";
export type { EtcdStoreOptions } from "./etcd-store.ts";
export type { EtcdTls } from "./etcd/connection.ts";
export { CompactedError, StoreError } from "./store.ts";
export type { Mutation, MutationResult, RangeOptions, RangeResult, Store, StoredValue, StoreEvent, StoreEvents } from "./store.ts";
export type { WindowLimits } from "./event-window.ts";
export { SnapshotError, writeSnapshot, readSnapshot, type SnapshotSummary } from "./snapshot/format.ts";
