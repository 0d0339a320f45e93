/** Work that is done again and again: a failure is told and does not end it. */
import { sleep } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";

/** Every `intervalMs`, for the first time after one, until `signal` aborts. `failure` is what the log says when the work rejects. */
export async function repeat(
  { clock, log, intervalMs, failure }: RepeatOptions,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(clock, intervalMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    await work(signal).catch((error: unknown) => {
      if (!signal.aborted) log.warn(failure, { error });
    });
  }
}

export interface RepeatOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly intervalMs: number;
  readonly failure: string;
}
