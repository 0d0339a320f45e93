/**
 * Sets of fields, as managed fields hold them. A set is its own FieldsV1 JSON: a tree of path elements (see path-element.ts) in which a node
 * without children is a member, and a node with children is one only if it has the child `.`. The root is never a member.
 *
 * Sets are immutable and share structure: an operation that changes nothing returns its first argument.
 */

export interface FieldSet {
  readonly [element: string]: FieldSet;
}

export const emptySet: FieldSet = Object.freeze({});

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

export function union(left: FieldSet, right: FieldSet): FieldSet {
  return isEmptySet(left) ? right : (mergeChildren(left, right) ?? emptySet);
}

/** Members of `left` that are not members of `right`. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  return subtractChildren(left, right, false) ?? emptySet;
}

/** Members of `left` that are neither members of `right` nor below one. */
export function recursiveDifference(left: FieldSet, right: FieldSet): FieldSet {
  return subtractChildren(left, right, true) ?? emptySet;
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  return intersectChildren(left, right) ?? emptySet;
}

/** The set of the given dotted paths: `status`, `metadata.labels`. */
export function setOfPaths(paths: readonly string[]): FieldSet {
  let set = emptySet;
  for (const path of paths) {
    let node: FieldSet = memberNode;
    for (const name of path.split(".").reverse()) node = { [`f:${name}`]: node };
    set = union(set, node);
  }
  return set;
}

/** A node that is a member and has no children. */
export const memberNode: FieldSet = Object.freeze({});

/** Whether a node (not a root) is a member. */
export function isMember(node: FieldSet): boolean {
  return Object.hasOwn(node, ".") || isEmptySet(node);
}

/** A node from its parts, or undefined when it would stand for nothing. `children` has no `.`. */
export function makeNode(isItself: boolean, children: FieldSet | undefined): FieldSet | undefined {
  if (children === undefined || isEmptySet(children)) return isItself ? memberNode : undefined;
  return isItself ? { ".": memberNode, ...children } : children;
}

/** Calls `visit` for each member with the elements that lead to it: the members of a level before those below, each in order. */
export function forEachMember(set: FieldSet, visit: (path: readonly string[]) => void, prefix: readonly string[] = []): void {
  const elements = childElements(set).sort(compareElements);
  for (const element of elements) if (isMember(set[element]!)) visit([...prefix, element]);
  for (const element of elements) forEachMember(set[element]!, visit, [...prefix, element]);
}

/** The same set with its elements in order, as Kubernetes prints it. */
export function sortSet(set: FieldSet): FieldSet {
  const elements = Object.keys(set);
  if (elements.length === 0) return memberNode;
  if (!isInOrder(elements)) elements.sort(compareElements);
  const sorted: Record<string, FieldSet> = {};
  for (const element of elements) sorted[element] = sortSet(set[element]!);
  return sorted;
}

function isInOrder(elements: readonly string[]): boolean {
  for (let index = 1; index < elements.length; index++) if (compareElements(elements[index - 1]!, elements[index]!) > 0) return false;
  return true;
}

const rank = (element: string) => ".fkvi".indexOf(element[0]!);

/** `.`, then field names, keys, values, indexes. */
function compareElements(a: string, b: string): number {
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

export function childElements(node: FieldSet): string[] {
  return Object.keys(node).filter((element) => element !== ".");
}

function mergeNodes(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  return makeNode(isMember(left) || isMember(right), mergeChildren(left, right))!;
}

function mergeChildren(left: FieldSet, right: FieldSet): FieldSet | undefined {
  if (left === right || isEmptySet(right)) return left;
  const merged: Record<string, FieldSet> = {};
  for (const element in left) if (element !== ".") merged[element] = left[element]!;
  for (const element in right) {
    if (element === ".") continue;
    const own = merged[element];
    merged[element] = own === undefined ? right[element]! : mergeNodes(own, right[element]!);
  }
  return isEmptySet(merged) ? undefined : merged;
}

function subtractNodes(left: FieldSet, right: FieldSet, isRecursive: boolean): FieldSet | undefined {
  const isGone = isMember(right);
  if (isGone && isRecursive) return undefined;
  const isItself = isMember(left);
  const children = subtractChildren(left, right, isRecursive);
  if (children === left && !(isItself && isGone)) return left;
  return makeNode(isItself && !isGone, children === left ? withoutSelf(left) : children);
}

/** Children of `left` less those of `right`; `left` itself when nothing goes. A `.` of `left` is kept only in that case. */
function subtractChildren(left: FieldSet, right: FieldSet, isRecursive: boolean): FieldSet | undefined {
  let rests: Map<string, FieldSet | undefined> | undefined;
  for (const element in right) {
    const own = element === "." ? undefined : left[element];
    if (own === undefined) continue;
    const rest = subtractNodes(own, right[element]!, isRecursive);
    if (rest !== own) (rests ??= new Map()).set(element, rest);
  }
  if (rests === undefined) return left;
  // (Made anew: an object that members were deleted from is slow ever after.)
  let kept: Record<string, FieldSet> | undefined;
  for (const element in left) {
    if (element === ".") continue;
    const rest = rests.has(element) ? rests.get(element) : left[element];
    if (rest !== undefined) (kept ??= {})[element] = rest;
  }
  return kept;
}

function withoutSelf(node: FieldSet): FieldSet {
  if (!Object.hasOwn(node, ".")) return node;
  const { ".": _, ...children } = node;
  return children;
}

function intersectChildren(left: FieldSet, right: FieldSet): FieldSet | undefined {
  let common: Record<string, FieldSet> | undefined;
  for (const element in right) {
    const own = element === "." ? undefined : left[element];
    if (own === undefined) continue;
    const other = right[element]!;
    const node = makeNode(isMember(own) && isMember(other), intersectChildren(own, other));
    if (node !== undefined) (common ??= {})[element] = node;
  }
  return common;
}
