/** An index over a cache, kept up to date event by event, and made anew when the cache was filled without events (start, lost history). */
import type { CacheEvent, ResourceCache } from "./resource-cache.ts";
import type { StoredObject } from "./stored-object.ts";

export interface CacheIndex {
  /** Forgets everything and takes in all objects. */
  reset(objects: Iterable<StoredObject>): void;
  apply(event: CacheEvent): void;
}

/** Feeds `index` from `cache`; the function returned is to be called before each use of the index. */
export function follow(cache: ResourceCache, index: CacheIndex): () => void {
  let seenLoads: number | undefined;
  cache.listen((event) => {
    // Until the next use the content is read as a whole anyway.
    if (seenLoads === cache.loadCount) index.apply(event);
  });
  return () => {
    if (seenLoads === cache.loadCount) return;
    seenLoads = cache.loadCount;
    index.reset(valuesOf(cache));
  };
}

function* valuesOf(cache: ResourceCache): Generator<StoredObject> {
  for (const [, stored] of cache.state.entries()) yield stored;
}
