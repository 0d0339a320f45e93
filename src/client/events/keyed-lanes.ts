/**
 * Runs tasks side by side, at most `limit` of them, those of one key one after the other in the order given. Driven by one caller, who
 * waits for room with each task. Tasks must not fail.
 */
export class KeyedLanes {
  readonly #limit: number;
  readonly #tails = new Map<string, Promise<void>>();
  #running = 0;
  #onRoom: (() => void) | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves as soon as the task has its place, not when it has ended. */
  async add(key: string, task: () => Promise<void>): Promise<void> {
    while (this.#running >= this.#limit) await new Promise<void>((resolve) => (this.#onRoom = resolve));
    this.#running += 1;
    const tail = (this.#tails.get(key) ?? Promise.resolve()).then(task).finally(() => {
      this.#running -= 1;
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
      this.#onRoom?.();
    });
    this.#tails.set(key, tail);
  }

  /** Resolves when every task has ended. */
  async join(): Promise<void> {
    await Promise.all(this.#tails.values());
  }
}
