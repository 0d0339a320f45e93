/**
 * A signal for the few who ask: most requests begin and end without anybody looking at theirs, and an AbortController with its event costs more
 * than the rest of such a request's bookkeeping.
 */
export class OnDemandSignal {
  #controller: AbortController | undefined;
  #ended: { readonly reason: unknown } | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended.reason);
    }
    return this.#controller.signal;
  }

  /** Aborts the signal, also one that is asked for later; only the first call counts. */
  abort(reason: unknown): void {
    this.#ended ??= { reason };
    this.#controller?.abort(reason);
  }
}
