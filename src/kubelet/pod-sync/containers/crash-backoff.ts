/**
 * How long a container that ended waits before it runs again (documentation page "Pod Lifecycle", "Container restarts"): not at all
 * the first time, then 10 s, doubled each time up to 300 s; forgotten when it has been quiet for 10 minutes. Pure.
 */
export interface CrashBackoff {
  readonly delayMs: number;
  readonly updatedMs: number;
}

const baseMs = 10_000;
const maxMs = 300_000;
const forgetMs = 2 * maxMs;

/** When the next start is due, for a container that ended at `finishedMs`. */
export function restartDueMs(backoff: CrashBackoff | undefined, finishedMs: number): number {
  return backoff === undefined || isForgotten(backoff, finishedMs) ? finishedMs : finishedMs + backoff.delayMs;
}

/** The state after a start at `nowMs` that followed an end at `finishedMs`. */
export function nextBackoff(backoff: CrashBackoff | undefined, finishedMs: number, nowMs: number): CrashBackoff {
  if (backoff === undefined || isForgotten(backoff, finishedMs)) return { delayMs: baseMs, updatedMs: nowMs };
  return { delayMs: Math.min(maxMs, backoff.delayMs * 2), updatedMs: nowMs };
}

function isForgotten(backoff: CrashBackoff, eventMs: number): boolean {
  return eventMs - backoff.updatedMs > forgetMs;
}

/** `10s`, `2m40s`, `5m0s`: as Go prints a duration of whole seconds. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  if (hours > 0) return `${hours}h${minutes}m${rest}s`;
  return minutes > 0 ? `${minutes}m${rest}s` : `${rest}s`;
}
