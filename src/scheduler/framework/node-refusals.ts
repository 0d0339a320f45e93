import type { NodeInfo } from "../state/node-info.ts";
import type { Refusal } from "./refusal.ts";

/**
 * Which nodes were refused, and why. Cheap to fill: looked up by name, or counted, only when somebody asks. Plugins share their refusals as
 * constants, so that thousands of nodes have few of them.
 */
export class NodeRefusals {
  readonly #nodes: NodeInfo[] = [];
  readonly #refusals: Refusal[] = [];
  #others: { readonly nodes: readonly NodeInfo[]; readonly except: ReadonlySet<string>; readonly refusal: Refusal } | undefined;
  #byName: Map<string, Refusal> | undefined;

  get size(): number {
    return this.#nodes.length + (this.#others === undefined ? 0 : this.#others.nodes.length - this.#others.except.size);
  }

  add(node: NodeInfo, refusal: Refusal): void {
    this.#nodes.push(node);
    this.#refusals.push(refusal);
    this.#byName = undefined;
  }

  /** Refuses all of `nodes` but those named in `except`, all of which are among them. */
  addOthers(nodes: readonly NodeInfo[], except: ReadonlySet<string>, refusal: Refusal): void {
    this.#others = { nodes, except, refusal };
    this.#byName = undefined;
  }

  get(nodeName: string): Refusal | undefined {
    this.#byName ??= new Map(this);
    return this.#byName.get(nodeName);
  }

  /** How many nodes have each refusal. */
  counts(): ReadonlyMap<Refusal, number> {
    const counts = new Map<Refusal, number>();
    const add = (refusal: Refusal, count: number) => counts.set(refusal, (counts.get(refusal) ?? 0) + count);
    const refusals = this.#refusals;
    for (let start = 0, end = 1; start < refusals.length; start = end, end += 1) {
      const refusal = refusals[start]!;
      while (end < refusals.length && refusals[end] === refusal) end += 1;
      add(refusal, end - start);
    }
    if (this.#others !== undefined && this.size > refusals.length) add(this.#others.refusal, this.size - refusals.length);
    return counts;
  }

  *entries(): Generator<[node: NodeInfo, refusal: Refusal]> {
    for (const [index, node] of this.#nodes.entries()) yield [node, this.#refusals[index]!];
    const others = this.#others;
    if (others !== undefined) for (const node of others.nodes) if (!others.except.has(node.name)) yield [node, others.refusal];
  }

  /** The nodes whose refusal has that code, in the order in which they were refused. */
  nodesRefused(code: Refusal["code"]): readonly NodeInfo[] {
    const found = this.#nodes.filter((_, index) => this.#refusals[index]!.code === code);
    const others = this.#others;
    return others?.refusal.code === code ? [...found, ...others.nodes.filter(({ name }) => !others.except.has(name))] : found;
  }

  *[Symbol.iterator](): Generator<[nodeName: string, refusal: Refusal]> {
    for (const [{ name }, refusal] of this.entries()) yield [name, refusal];
  }
}

export const noRefusals = new NodeRefusals();
