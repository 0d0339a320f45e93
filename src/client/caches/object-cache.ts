import { invariant } from "../../base/invariant.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";

/**
 * Objects of one resource by namespace and name, with indexes that their users declare. Driven by an informer; everyone else reads.
 * Objects are stripped of managedFields and frozen when they enter. Invariant: every index holds exactly the objects of the cache.
 */
export class ObjectCache<T extends KubeObject> implements Lister<T> {
  readonly #namespaces = new Map<string, Map<string, DeepReadonly<T>>>();
  readonly #indexes = new Map<string, { keys: IndexFunction<T>; buckets: Map<string, Set<DeepReadonly<T>>> }>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(namespace: string, name: string): DeepReadonly<T> | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  list(namespace = ""): readonly DeepReadonly<T>[] {
    if (namespace !== "") return [...(this.#namespaces.get(namespace)?.values() ?? [])];
    const all: DeepReadonly<T>[] = [];
    for (const objects of this.#namespaces.values()) for (const object of objects.values()) all.push(object);
    return all;
  }

  byIndex(index: string, key: string): readonly DeepReadonly<T>[] {
    const known = this.#indexes.get(index);
    invariant(known !== undefined, `no index ${index} was declared`);
    return [...(known.buckets.get(key) ?? [])];
  }

  /** Declares an index, or finds it declared: the first declaration of a name counts. */
  addIndex(name: string, keys: IndexFunction<T>): void {
    if (this.#indexes.has(name)) return;
    this.#indexes.set(name, { keys, buckets: new Map() });
    for (const object of this.list()) this.#index(name, object);
  }

  /** Stores `object` and returns the one it replaces. */
  put(object: DeepReadonly<T>): DeepReadonly<T> | undefined {
    const namespace = object.metadata.namespace ?? "";
    const name = object.metadata.name ?? "";
    let objects = this.#namespaces.get(namespace);
    if (objects === undefined) this.#namespaces.set(namespace, (objects = new Map()));
    const old = objects.get(name);
    objects.set(name, object);
    if (old === undefined) this.#size += 1;
    for (const index of this.#indexes.keys()) {
      if (old !== undefined) this.#unindex(index, old);
      this.#index(index, object);
    }
    return old;
  }

  /** Removes an object and returns it. */
  remove(namespace: string, name: string): DeepReadonly<T> | undefined {
    const objects = this.#namespaces.get(namespace);
    const old = objects?.get(name);
    if (objects === undefined || old === undefined) return undefined;
    objects.delete(name);
    if (objects.size === 0) this.#namespaces.delete(namespace);
    this.#size -= 1;
    for (const index of this.#indexes.keys()) this.#unindex(index, old);
    return old;
  }

  #index(name: string, object: DeepReadonly<T>): void {
    const { keys, buckets } = this.#indexes.get(name)!;
    for (const key of keys(object)) {
      const bucket = buckets.get(key);
      if (bucket === undefined) buckets.set(key, new Set([object]));
      else bucket.add(object);
    }
  }

  #unindex(name: string, object: DeepReadonly<T>): void {
    const { keys, buckets } = this.#indexes.get(name)!;
    for (const key of keys(object)) {
      const bucket = buckets.get(key);
      bucket?.delete(object);
      if (bucket?.size === 0) buckets.delete(key);
    }
  }
}

/** What readers see of a cache. Namespace `""` is for cluster-scoped objects in `get`, for all namespaces in `list`. */
export interface Lister<T extends KubeObject> {
  get(namespace: string, name: string): DeepReadonly<T> | undefined;
  list(namespace?: string): readonly DeepReadonly<T>[];
  byIndex(index: string, key: string): readonly DeepReadonly<T>[];
}

/** The keys under which an object is found; must depend on nothing but the object. */
export type IndexFunction<T extends KubeObject> = (object: DeepReadonly<T>) => readonly string[];

/** An object as caches hold it: without managedFields, frozen through and through. Takes the object over. */
export function cached<T extends KubeObject>(object: T): DeepReadonly<T> {
  delete object.metadata.managedFields;
  // An explicit stack: custom resources may nest thousands of levels deep.
  const pending: object[] = [object];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    Object.freeze(value);
    for (const key in value) {
      const member = (value as Record<string, unknown>)[key];
      if (typeof member === "object" && member !== null && !Object.isFrozen(member)) pending.push(member);
    }
  }
  return object as DeepReadonly<T>;
}
