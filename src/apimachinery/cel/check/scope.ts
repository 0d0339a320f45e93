import type { CelType } from "./types.ts";

/** Variables that comprehensions declare, innermost first. */
export class Scope {
  readonly #name: string | undefined;
  readonly #type: CelType | undefined;
  readonly #outer: Scope | undefined;

  constructor(name?: string, type?: CelType, outer?: Scope) {
    this.#name = name;
    this.#type = type;
    this.#outer = outer;
  }

  with(name: string, type: CelType): Scope {
    return new Scope(name, type, this);
  }

  find(name: string): CelType | undefined {
    if (this.#name === name) return this.#type;
    return this.#outer === undefined ? undefined : this.#outer.find(name);
  }
}
