import { objectKey } from "../objects/object-key.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Change, Informer } from "./informer.ts";

/**
 * Knows, per key of a controller, which of its own writes its caches have not seen yet, so that no decision is made on a state older
 * than what the controller itself did (resource versions are comparable, KEP-5504). Driven by the controller harness: it notes writes,
 * and defers a key until `onceCaughtUp` calls back. Holds nothing for keys that have caught up.
 */
export class WriteTracker {
  readonly #onUntold: (key: string) => void;
  readonly #pending = new Map<string, Set<object>>();
  readonly #callbacks = new Map<string, (() => void)[]>();
  readonly #deletions = new Map<Informer<never>, { byObject: Map<string, Deletion[]>; unsubscribe: () => void }>();

  /** `onUntold` hears of keys whose write was seen in a list: whoever undid it before that was told to nobody. */
  constructor(onUntold: (key: string) => void = () => undefined) {
    this.#onUntold = onUntold;
  }

  /** A create, update or patch for `key` was answered with `resourceVersion`. */
  noteWrite<T extends KubeObject>(key: string, informer: Informer<T>, resourceVersion: string): void {
    if (informer.hasSeen(resourceVersion)) return;
    const write = this.#begin(key);
    informer.onceSeen(resourceVersion, () => {
      this.#end(key, write);
      if (informer.hasListed(resourceVersion)) this.#onUntold(key);
    });
  }

  /** An object was deleted for `key`: seen once it is gone, being deleted, or another of that name is there. */
  noteDelete<T extends KubeObject>(key: string, informer: Informer<T>, object: { namespace: string; name: string; uid?: string | undefined }): void {
    const current = informer.get(object.namespace, object.name);
    if (current === undefined || current.metadata.deletionTimestamp !== undefined) return;
    if (object.uid !== undefined && current.metadata.uid !== object.uid) return;
    const deletion: Deletion = { key, uid: current.metadata.uid, token: this.#begin(key) };
    const { byObject } = this.#watched(informer);
    const name = objectKey(object.namespace, object.name);
    byObject.set(name, [...(byObject.get(name) ?? []), deletion]);
  }

  isCaughtUp(key: string): boolean {
    return !this.#pending.has(key);
  }

  /** Calls back once every noted write of `key` has been seen; at once when there is none. */
  onceCaughtUp(key: string, callback: () => void): void {
    if (this.isCaughtUp(key)) return callback();
    this.#callbacks.set(key, [...(this.#callbacks.get(key) ?? []), callback]);
  }

  /** Forgets everything; nobody is called back. */
  close(): void {
    for (const { unsubscribe } of this.#deletions.values()) unsubscribe();
    this.#deletions.clear();
    this.#pending.clear();
    this.#callbacks.clear();
  }

  #begin(key: string): object {
    const token = {};
    const tokens = this.#pending.get(key);
    if (tokens === undefined) this.#pending.set(key, new Set([token]));
    else tokens.add(token);
    return token;
  }

  #end(key: string, token: object): void {
    const tokens = this.#pending.get(key);
    if (tokens === undefined || !tokens.delete(token) || tokens.size > 0) return;
    this.#pending.delete(key);
    const callbacks = this.#callbacks.get(key) ?? [];
    this.#callbacks.delete(key);
    for (const callback of callbacks) callback();
  }

  #watched<T extends KubeObject>(informer: Informer<T>): { byObject: Map<string, Deletion[]> } {
    const known = this.#deletions.get(informer as unknown as Informer<never>);
    if (known !== undefined) return known;
    const byObject = new Map<string, Deletion[]>();
    const onChange = (change: Change<T>) => {
      const { namespace = "", name = "", uid, deletionTimestamp } = change.object.metadata;
      const deletions = byObject.get(objectKey(namespace, name));
      if (deletions === undefined) return;
      const open = deletions.filter((deletion) => change.kind !== "delete" && deletionTimestamp === undefined && deletion.uid === uid);
      if (open.length === 0) byObject.delete(objectKey(namespace, name));
      else byObject.set(objectKey(namespace, name), open);
      for (const deletion of deletions) if (!open.includes(deletion)) this.#end(deletion.key, deletion.token);
    };
    const entry = { byObject, unsubscribe: informer.subscribe(onChange, { isReplayed: false }) };
    this.#deletions.set(informer as unknown as Informer<never>, entry);
    return entry;
  }
}

type Deletion = { readonly key: string; readonly uid: string | undefined; readonly token: object };
