/**
 * Sorted maps from text keys (by UTF-16 order) to values: a B-tree that is changed in place by its one writer, `SortedMapWriter`, and of
 * which an immutable `SortedMap` can be taken at any time in O(1): from then on the writer copies what it changes, each node once.
 */

/** A state of a map; it stays as it is for ever. */
export class SortedMap<V> {
  readonly size: number;
  readonly #root: Node<V>;

  /** Of a writer's root: see `SortedMapWriter.snapshot`. */
  constructor(root: Node<V>) {
    this.#root = root;
    this.size = root.count;
  }

  /** The tree, for a writer that goes on from this state. */
  get root(): Node<V> {
    return this.#root;
  }

  get(key: string): V | undefined {
    return find(this.#root, key);
  }

  /** Entries with a key at or above `from`, in order. */
  *entries(from = ""): IterableIterator<readonly [key: string, value: V]> {
    const path: { node: Node<V>; index: number }[] = [];
    let node = this.#root;
    for (;;) {
      const index = node.children === undefined ? lowerBound(node.keys, from) : childIndex(node.keys, from);
      path.push({ node, index });
      if (node.children === undefined) break;
      node = node.children[index]!;
    }
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      if (top.node.children === undefined) {
        while (top.index < top.node.keys.length) {
          yield [top.node.keys[top.index]!, top.node.values[top.index]!];
          top.index++;
        }
        path.pop();
        const parent = path.at(-1);
        if (parent !== undefined) parent.index++;
        continue;
      }
      const child = top.node.children[top.index];
      if (child === undefined) {
        path.pop();
        const parent = path.at(-1);
        if (parent !== undefined) parent.index++;
      } else path.push({ node: child, index: 0 });
    }
  }

  /** Entries whose key starts with `prefix`, from `from` (inclusive) on. */
  *prefixed(prefix: string, from = prefix): IterableIterator<readonly [key: string, value: V]> {
    for (const entry of this.entries(from > prefix ? from : prefix)) {
      if (!entry[0].startsWith(prefix)) return;
      yield entry;
    }
  }

  /** How many keys start with `prefix`, in O(log n). */
  countPrefixed(prefix: string): number {
    if (prefix === "") return this.size;
    const last = prefix.charCodeAt(prefix.length - 1);
    return this.rank(prefix.slice(0, -1) + String.fromCharCode(last + 1)) - this.rank(prefix);
  }

  /** How many keys are below `key`, in O(log n). */
  rank(key: string): number {
    let node = this.#root;
    let below = 0;
    while (node.children !== undefined) {
      const index = childIndex(node.keys, key);
      for (let i = 0; i < index; i++) below += node.children[i]!.count;
      node = node.children[index]!;
    }
    return below + lowerBound(node.keys, key);
  }
}

const fanout = 48;

/** A leaf has keys and values; an inner node has children and the first key of each. Only the writer that owns a node may change it. */
interface Node<V> {
  readonly owner: object;
  readonly keys: string[];
  readonly values: V[];
  readonly children: Node<V>[] | undefined;
  /** Keys in it and below. */
  count: number;
}

/** Changes a map. `set` and `delete` are O(log n). */
export class SortedMapWriter<V> {
  #owner = {};
  #root: Node<V>;
  #snapshot: SortedMap<V> | undefined;

  /** Begins with the content of `from`, which stays as it is. */
  constructor(from?: SortedMap<V>) {
    this.#root = from?.root ?? { owner: this.#owner, keys: [], values: [], children: undefined, count: 0 };
    this.#snapshot = from;
  }

  get(key: string): V | undefined {
    return find(this.#root, key);
  }

  /** The map as it is now; the same one until the next change. */
  snapshot(): SortedMap<V> {
    if (this.#snapshot === undefined) {
      this.#snapshot = new SortedMap(this.#root);
      this.#owner = {};
    }
    return this.#snapshot;
  }

  set(key: string, value: V): void {
    this.#snapshot = undefined;
    const left = (this.#root = this.#owned(this.#root));
    const right = this.#insert(left, key, value);
    if (right === undefined) return;
    this.#root = { owner: this.#owner, keys: [left.keys[0]!, right.keys[0]!], values: [], children: [left, right], count: left.count + right.count };
  }

  delete(key: string): void {
    if (this.get(key) === undefined) return;
    this.#snapshot = undefined;
    this.#root = this.#owned(this.#root);
    this.#remove(this.#root, key);
    while (this.#root.children?.length === 1) this.#root = this.#root.children[0]!;
  }

  #owned(node: Node<V>): Node<V> {
    if (node.owner === this.#owner) return node;
    return { owner: this.#owner, keys: node.keys.slice(), values: node.values.slice(), children: node.children?.slice(), count: node.count };
  }

  /** Returns what was split off on the right, when `node` became too large. */
  #insert(node: Node<V>, key: string, value: V): Node<V> | undefined {
    if (node.children === undefined) {
      const index = lowerBound(node.keys, key);
      if (node.keys[index] === key) {
        node.values[index] = value;
        return undefined;
      }
      node.keys.splice(index, 0, key);
      node.values.splice(index, 0, value);
      node.count++;
    } else {
      const index = childIndex(node.keys, key);
      const child = (node.children[index] = this.#owned(node.children[index]!));
      node.count -= child.count;
      const right = this.#insert(child, key, value);
      node.count += child.count;
      node.keys[index] = child.keys[0]!;
      if (right !== undefined) {
        node.keys.splice(index + 1, 0, right.keys[0]!);
        node.children.splice(index + 1, 0, right);
        node.count += right.count;
      }
    }
    return node.keys.length > fanout ? this.#split(node) : undefined;
  }

  #split(node: Node<V>): Node<V> {
    const middle = node.keys.length >> 1;
    const keys = node.keys.splice(middle);
    const children = node.children?.splice(middle);
    const count = children === undefined ? keys.length : children.reduce((sum, child) => sum + child.count, 0);
    node.count -= count;
    return { owner: this.#owner, keys, values: node.values.splice(middle), children, count };
  }

  /** `key` is there. Underfull nodes are left: they refill or empty. An emptied child goes. */
  #remove(node: Node<V>, key: string): void {
    node.count--;
    if (node.children === undefined) {
      const index = lowerBound(node.keys, key);
      node.keys.splice(index, 1);
      node.values.splice(index, 1);
      return;
    }
    const index = childIndex(node.keys, key);
    const child = (node.children[index] = this.#owned(node.children[index]!));
    this.#remove(child, key);
    if (child.count > 0) {
      node.keys[index] = child.keys[0]!;
      return;
    }
    node.keys.splice(index, 1);
    node.children.splice(index, 1);
  }
}

function find<V>(root: Node<V>, key: string): V | undefined {
  let node = root;
  while (node.children !== undefined) node = node.children[childIndex(node.keys, key)]!;
  const index = lowerBound(node.keys, key);
  return node.keys[index] === key ? node.values[index] : undefined;
}

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

/** Index of the child that may hold `key`. */
function childIndex(keys: readonly string[], key: string): number {
  const bound = lowerBound(keys, key);
  if (keys[bound] === key) return bound;
  return bound === 0 ? 0 : bound - 1;
}
