/** Names to look at, each once however often it is added meanwhile, in the order of their adding; one worker takes them one by one. */
export class PendingNames {
  readonly #names = new Set<string>();
  #wake: (() => void) | undefined;

  add(name: string): void {
    this.#names.add(name);
    this.#wake?.();
  }

  /** Calls `work` with one name after the other, and waits for more. A name that is added while it is worked on comes again. Returns when `signal` aborts. */
  async run(signal: AbortSignal, work: (name: string) => Promise<void>): Promise<void> {
    const wake = () => this.#wake?.();
    signal.addEventListener("abort", wake, { once: true });
    try {
      while (!signal.aborted) {
        const [name] = this.#names;
        if (name === undefined) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
          continue;
        }
        this.#names.delete(name);
        await work(name);
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }
}
