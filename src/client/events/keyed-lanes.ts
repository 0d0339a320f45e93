/**
 * Runs tasks side by side, at most `limit` of them, those of one key one after the other in the order given. Driven by its callers, each of
 * whom waits for room with each task; room is given in the order in which they came. Tasks must not fail.
 * Invariant: nobody waits while there is room.
 */
export class KeyedLanes {
  readonly #limit: number;
  readonly #tails = new Map<string, Promise<void>>();
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves as soon as the task has its place, not when it has ended. */
  async add(key: string, task: () => Promise<void>): Promise<void> {
    if (this.#running < this.#limit) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.add(resolve));
    const tail = (this.#tails.get(key) ?? Promise.resolve()).then(task).finally(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
      this.#giveRoom();
    });
    this.#tails.set(key, tail);
  }

  /** Resolves when every task that has its place has ended, whoever gave it. */
  async join(): Promise<void> {
    await Promise.all(this.#tails.values());
  }

  /** The place of a task that has ended goes to who waits longest. */
  #giveRoom(): void {
    const [next] = this.#waiting;
    if (next === undefined) return void (this.#running -= 1);
    this.#waiting.delete(next);
    next();
  }
}
