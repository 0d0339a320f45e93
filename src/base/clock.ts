/**
 * Time as an option. Everything that waits or reads the time takes a `Clock`; production uses `systemClock()`, tests a `VirtualClock`.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch (wall clock: what API timestamps show). */
  nowMs(): number;
  /** Milliseconds of a clock that never goes back (for durations). */
  monotonicMs(): number;
  /** Calls `callback` once after `delayMs`; the returned function cancels it and may be called at any time. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The machine's clock. Timers do not keep the process alive unless `keepAlive` is set. */
export function systemClock(options: { keepAlive?: boolean } = {}): Clock {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    after(delayMs, callback) {
      // setTimeout overflows at 2^31 ms and would fire at once; nothing of ours waits 24 days without re-reading its state.
      const timer = setTimeout(callback, Math.min(delayMs, 2_147_483_647));
      if (options.keepAlive !== true) timer.unref();
      return () => clearTimeout(timer);
    },
  };
}

/** Resolves after `delayMs`, or rejects with the signal's reason. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/**
 * A signal that aborts with a `TimeoutError` after `delayMs`, or with the reason of one of `parents` when that aborts. `cancel` must be
 * called in the end: it stops the timer and lets go of the parents.
 */
export function deadline(clock: Clock, delayMs: number, ...parents: AbortSignal[]): { signal: AbortSignal; cancel: () => void } {
  const controller = new AbortController();
  const cancelTimer = clock.after(delayMs, () => controller.abort(new DOMException("the deadline passed", "TimeoutError")));
  // AbortSignal.any would do the same at several times the cost, on every request.
  const listeners = parents.map((parent) => {
    const onAbort = () => controller.abort(parent.reason);
    if (parent.aborted) onAbort();
    else parent.addEventListener("abort", onAbort, { once: true });
    return () => parent.removeEventListener("abort", onAbort);
  });
  const cancel = () => {
    cancelTimer();
    for (const unlisten of listeners) unlisten();
  };
  return { signal: controller.signal, cancel };
}
