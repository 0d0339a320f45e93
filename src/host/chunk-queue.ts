/**
 * Bytes on their way from one producer to one consumer. `onTaken` hears how many bytes the consumer has taken, which is how the
 * producer is held back; without it the queue is unbounded and the producer must be bounded itself.
 */
export class ChunkQueue implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = [];
  readonly #onTaken: ((bytes: number) => void) | undefined;
  #wake: (() => void) | undefined;
  #isEnded = false;
  #error: unknown;

  constructor(onTaken?: (bytes: number) => void) {
    this.#onTaken = onTaken;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  push(chunk: Uint8Array): void {
    if (this.#isEnded || chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#notify();
  }

  /** No more bytes; with `error`, the consumer gets it after the bytes. */
  end(error?: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#error = error;
    this.#notify();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#onTaken?.(chunk.length);
        yield chunk;
      } else if (this.#isEnded) {
        if (this.#error !== undefined) throw this.#error;
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
