import type { Version } from "./version.ts";

/**
 * Newest version of every key, sorted by sort key: a list of chunks of up to `chunkLimit` neighbours, found by binary search. Changed in
 * place; older states are reached through each version's `previous`. Invariants: no chunk is empty; chunks are in order.
 */
export class KeyIndex {
  readonly #chunks: Chunk[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): Version | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)];
    if (chunk === undefined) return undefined;
    const at = lowerBound(chunk.keys, key);
    return chunk.keys[at] === key ? chunk.versions[at] : undefined;
  }

  set(key: string, version: Version): void {
    const chunkIndex = this.#chunkOf(key);
    const chunk = this.#chunks[chunkIndex];
    if (chunk === undefined) {
      this.#chunks.push({ keys: [key], versions: [version] });
      this.#size++;
      return;
    }
    const at = lowerBound(chunk.keys, key);
    if (chunk.keys[at] === key) {
      chunk.versions[at] = version;
      return;
    }
    chunk.keys.splice(at, 0, key);
    chunk.versions.splice(at, 0, version);
    this.#size++;
    if (chunk.keys.length > chunkLimit) this.#split(chunkIndex, chunk);
  }

  delete(key: string): void {
    const chunkIndex = this.#chunkOf(key);
    const chunk = this.#chunks[chunkIndex];
    if (chunk === undefined) return;
    const at = lowerBound(chunk.keys, key);
    if (chunk.keys[at] !== key) return;
    chunk.keys.splice(at, 1);
    chunk.versions.splice(at, 1);
    this.#size--;
    if (chunk.keys.length === 0) this.#chunks.splice(chunkIndex, 1);
  }

  /** Visits keys from `from` on, in order, until `visit` returns false. The index must not change meanwhile. */
  scan(from: string, visit: (key: string, newest: Version) => boolean): void {
    for (let chunkIndex = this.#chunkOf(from); chunkIndex < this.#chunks.length; chunkIndex++) {
      const { keys, versions } = this.#chunks[chunkIndex]!;
      for (let at = lowerBound(keys, from); at < keys.length; at++) {
        if (!visit(keys[at]!, versions[at]!)) return;
      }
    }
  }

  /** All versions in order of keys, in batches of at most about `limit`. The index must not change meanwhile. */
  *batches(limit: number): Generator<Version[]> {
    let batch: Version[] = [];
    for (const { versions } of this.#chunks) {
      batch.push(...versions);
      if (batch.length + chunkLimit <= limit) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  /** The last chunk whose first key is not above `key` (0 when there is none). */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#chunks[middle]!.keys[0]! <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  #split(chunkIndex: number, chunk: Chunk): void {
    // Keys often arrive in order; a full left half then wastes nothing.
    const isLast = chunkIndex === this.#chunks.length - 1;
    const middle = isLast ? chunkLimit - 1 : chunkLimit >> 1;
    this.#chunks.splice(chunkIndex + 1, 0, { keys: chunk.keys.splice(middle), versions: chunk.versions.splice(middle) });
  }
}

type Chunk = { readonly keys: string[]; readonly versions: Version[] };

const chunkLimit = 256;

/** Index of the first key that is not below `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
