/**
 * An immutable sorted map from text keys (by UTF-16 order) to values: a B-tree whose updates copy only the path to the changed leaf.
 * Any version stays valid for ever, so a snapshot is a reference. `set` and `delete` are O(log n) and return the new map.
 */
export class SortedMap<V> {
  readonly size: number;
  readonly #root: Node<V>;

  private constructor(root: Node<V>, size: number) {
    this.#root = root;
    this.size = size;
  }

  static empty<V>(): SortedMap<V> {
    return new SortedMap<V>({ keys: [], values: [], children: undefined, count: 0 }, 0);
  }

  get(key: string): V | undefined {
    let node = this.#root;
    while (node.children !== undefined) node = node.children[childIndex(node.keys, key)]!;
    const index = lowerBound(node.keys, key);
    return node.keys[index] === key ? node.values[index] : undefined;
  }

  set(key: string, value: V): SortedMap<V> {
    const result = insert(this.#root, key, value);
    const root: Node<V> =
      result.right === undefined
        ? result.left
        : {
            keys: [result.left.keys[0]!, result.right.keys[0]!],
            values: [],
            children: [result.left, result.right],
            count: result.left.count + result.right.count,
          };
    return new SortedMap(root, root.count);
  }

  delete(key: string): SortedMap<V> {
    const root = remove(this.#root, key);
    if (root === this.#root) return this;
    if (root === undefined) return SortedMap.empty();
    let top = root;
    while (top.children !== undefined && top.children.length === 1) top = top.children[0]!;
    return new SortedMap(top, top.count);
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

/** A leaf has keys and values; an inner node has children and the first key of each. Nodes are never changed once shared. */
interface Node<V> {
  readonly keys: readonly string[];
  readonly values: readonly V[];
  readonly children: readonly Node<V>[] | undefined;
  readonly count: number;
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

function insert<V>(node: Node<V>, key: string, value: V): { left: Node<V>; right?: Node<V> } {
  if (node.children === undefined) {
    const index = lowerBound(node.keys, key);
    const isReplacement = node.keys[index] === key;
    const keys = node.keys.slice();
    const values = node.values.slice();
    if (isReplacement) values[index] = value;
    else {
      keys.splice(index, 0, key);
      values.splice(index, 0, value);
    }
    return split(keys, values, undefined);
  }
  const index = childIndex(node.keys, key);
  const result = insert(node.children[index]!, key, value);
  const keys = node.keys.slice();
  const children = node.children.slice();
  keys[index] = result.left.keys[0]!;
  children[index] = result.left;
  if (result.right !== undefined) {
    keys.splice(index + 1, 0, result.right.keys[0]!);
    children.splice(index + 1, 0, result.right);
  }
  return split(keys, [], children);
}

function split<V>(keys: string[], values: V[], children: Node<V>[] | undefined): { left: Node<V>; right?: Node<V> } {
  if (keys.length <= fanout) return { left: makeNode(keys, values, children) };
  const middle = keys.length >> 1;
  return {
    left: makeNode(keys.slice(0, middle), values.slice(0, middle), children?.slice(0, middle)),
    right: makeNode(keys.slice(middle), values.slice(middle), children?.slice(middle)),
  };
}

function makeNode<V>(keys: string[], values: V[], children: Node<V>[] | undefined): Node<V> {
  const count = children === undefined ? keys.length : children.reduce((sum, child) => sum + child.count, 0);
  return { keys, values, children, count };
}

/** The node without `key`; itself when it does not hold it; undefined when nothing remains. Underfull nodes are left: they refill or empty. */
function remove<V>(node: Node<V>, key: string): Node<V> | undefined {
  if (node.children === undefined) {
    const index = lowerBound(node.keys, key);
    if (node.keys[index] !== key) return node;
    if (node.keys.length === 1) return undefined;
    return makeNode(node.keys.toSpliced(index, 1), node.values.toSpliced(index, 1), undefined);
  }
  const index = childIndex(node.keys, key);
  const child = node.children[index]!;
  const rest = remove(child, key);
  if (rest === child) return node;
  if (rest === undefined) {
    if (node.children.length === 1) return undefined;
    return makeNode(node.keys.toSpliced(index, 1), [], node.children.toSpliced(index, 1));
  }
  return makeNode(node.keys.toSpliced(index, 1, rest.keys[0]!), [], node.children.toSpliced(index, 1, rest));
}
