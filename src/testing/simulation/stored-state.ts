/**
 * What the store holds, told at every commit: the objects of each kind as they are at that instant, for invariants that must never be broken,
 * not even between two events of a watch. Wraps a store; driven by its commits.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Store } from "../../storage/index.ts";

export class StoredState {
  readonly #byKind = new Map<string, Map<string, DeepReadonly<KubeObject>>>();
  #onChange: (change: StoredChange) => void = () => undefined;

  /** `store` itself, whose commits are heard from now on. */
  observe(store: Store): Store {
    const commit = store.commit.bind(store);
    store.commit = async (mutation) => {
      const result = await commit(mutation);
      if (!result.isCommitted || mutation.key.startsWith("/registry/events/")) return result;
      this.#take(mutation.key, mutation.kind === "put" ? (JSON.parse(decoder.decode(mutation.value)) as KubeObject) : undefined);
      return result;
    };
    return store;
  }

  /** Calls `handler` after each commit. */
  onChange(handler: (change: StoredChange) => void): void {
    this.#onChange = handler;
  }

  /** All objects of a kind that were written since the start. */
  of<T extends KubeObject>(kind: string): DeepReadonly<T>[] {
    return [...(this.#byKind.get(kind)?.values() ?? [])] as DeepReadonly<T>[];
  }

  #take(key: string, object: DeepReadonly<KubeObject> | undefined): void {
    const objects = object === undefined ? [...this.#byKind.values()].find((all) => all.has(key)) : this.#kind(object.kind ?? "");
    const old = objects?.get(key);
    if (object === undefined) objects?.delete(key);
    else objects!.set(key, object);
    const changed = object ?? old;
    if (changed !== undefined) this.#onChange({ kind: changed.kind ?? "", object, old });
  }

  #kind(kind: string): Map<string, DeepReadonly<KubeObject>> {
    const known = this.#byKind.get(kind) ?? new Map<string, DeepReadonly<KubeObject>>();
    this.#byKind.set(kind, known);
    return known;
  }
}

export interface StoredChange {
  /** Kind of the object. */
  readonly kind: string;
  /** Undefined: it was removed. */
  readonly object: DeepReadonly<KubeObject> | undefined;
  /** Undefined: it was not there. */
  readonly old: DeepReadonly<KubeObject> | undefined;
}

const decoder = new TextDecoder();
