import type { NodeInfo } from "../state/node-info.ts";
import type { Refusal } from "./refusal.ts";

/** Which nodes were refused, and why. Cheap to fill: looked up by name only when somebody asks. */
export class NodeRefusals {
  readonly #nodes: NodeInfo[] = [];
  readonly #refusals: Refusal[] = [];
  #byName: Map<string, Refusal> | undefined;

  get size(): number {
    return this.#nodes.length;
  }

  add(node: NodeInfo, refusal: Refusal): void {
    this.#nodes.push(node);
    this.#refusals.push(refusal);
    this.#byName = undefined;
  }

  get(nodeName: string): Refusal | undefined {
    this.#byName ??= new Map(this.#nodes.map(({ name }, index) => [name, this.#refusals[index]!]));
    return this.#byName.get(nodeName);
  }

  values(): readonly Refusal[] {
    return this.#refusals;
  }

  *entries(): Generator<[node: NodeInfo, refusal: Refusal]> {
    for (const [index, node] of this.#nodes.entries()) yield [node, this.#refusals[index]!];
  }

  *[Symbol.iterator](): Generator<[nodeName: string, refusal: Refusal]> {
    for (const [index, { name }] of this.#nodes.entries()) yield [name, this.#refusals[index]!];
  }
}

export const noRefusals = new NodeRefusals();
