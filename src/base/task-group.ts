/**
 * Owns background work: every promise that nobody awaits is started here, named, reported when it fails, and awaited at the end.
 * Driven by the component that made it; `close` aborts the group's signal and returns when every task has settled.
 * Invariant: a task that fails aborts the group (its error is what `failed` and `close` reject with), unless it failed by the abort.
 */
export class TaskGroup {
  readonly #controller = new AbortController();
  readonly #running = new Map<Promise<void>, string>();
  #failure: { error: unknown } | undefined;
  readonly #onFailure: ((name: string, error: unknown) => void) | undefined;

  constructor(options: { parent?: AbortSignal; onFailure?: (name: string, error: unknown) => void } = {}) {
    this.#onFailure = options.onFailure;
    const parent = options.parent;
    if (parent?.aborted === true) this.#controller.abort(parent.reason);
    else parent?.addEventListener("abort", () => this.#controller.abort(parent.reason), { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Names of the tasks still running. */
  get names(): string[] {
    return [...this.#running.values()];
  }

  /** Starts `task`; it must return soon after `signal` aborts. */
  start(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    const promise = Promise.resolve()
      .then(() => task(this.#controller.signal))
      .catch((error: unknown) => this.#fail(name, error))
      .finally(() => this.#running.delete(promise));
    this.#running.set(promise, name);
  }

  /** Aborts every task and waits for all; rejects with the first failure that was not the abort itself. */
  async close(reason: unknown = new DOMException("the task group was closed", "AbortError")): Promise<void> {
    this.#controller.abort(reason);
    await this.join();
  }

  /** Waits until no task runs. */
  async join(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.keys());
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #fail(name: string, error: unknown): void {
    if (isAbort(error, this.#controller.signal)) return;
    this.#failure ??= { error };
    this.#onFailure?.(name, error);
    this.#controller.abort(error);
  }
}

/** Whether `error` is what an aborted `signal` makes its waiters throw. */
export function isAbort(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (error === signal.reason || (error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError")));
}

/** Resolves when `signal` aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
