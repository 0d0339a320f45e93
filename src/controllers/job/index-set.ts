/**
 * Completion indexes as a Job's status writes them: sorted, runs joined (`1,3-5,7`). What is not well formed, or not below `completions`,
 * counts as absent.
 */
export class IndexSet {
  readonly #indexes: ReadonlySet<number>;

  constructor(indexes: Iterable<number> = []) {
    this.#indexes = new Set(indexes);
  }

  static parse(text: string | undefined, completions: number): IndexSet {
    const indexes: number[] = [];
    for (const part of (text ?? "").split(",")) {
      const match = /^(\d+)(?:-(\d+))?$/.exec(part);
      if (match === null) continue;
      const last = Math.min(Number(match[2] ?? match[1]), completions - 1);
      for (let index = Number(match[1]); index <= last; index++) indexes.push(index);
    }
    return new IndexSet(indexes);
  }

  get size(): number {
    return this.#indexes.size;
  }

  has(index: number): boolean {
    return this.#indexes.has(index);
  }

  with(more: Iterable<number>): IndexSet {
    return new IndexSet([...this.#indexes, ...more]);
  }

  [Symbol.iterator](): Iterator<number> {
    return this.#indexes.values();
  }

  toString(): string {
    const sorted = [...this.#indexes].sort((left, right) => left - right);
    const runs: string[] = [];
    for (let start = 0; start < sorted.length;) {
      let end = start;
      while (sorted[end + 1] === sorted[end]! + 1) end += 1;
      // A run of two is written as two.
      if (end - start < 2) runs.push(...sorted.slice(start, end + 1).map(String));
      else runs.push(`${sorted[start]}-${sorted[end]}`);
      start = end + 1;
    }
    return runs.join(",");
  }
}
