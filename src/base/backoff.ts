import type { Random } from "./random.ts";

/** Exponential back-off: `baseMs`, doubled each time up to `maxMs`, spread by ± `jitter` (a fraction). */
export interface BackoffPolicy {
  readonly baseMs: number;
  readonly maxMs: number;
  readonly factor?: number;
  readonly jitter?: number;
}

/** Delay before attempt `failures` + 1, in milliseconds. `failures` counts from 1. */
export function backoffMs(policy: BackoffPolicy, failures: number, random?: Random): number {
  const plain = Math.min(policy.maxMs, policy.baseMs * (policy.factor ?? 2) ** Math.max(0, failures - 1));
  if (policy.jitter === undefined || random === undefined) return plain;
  return plain * (1 - policy.jitter + 2 * policy.jitter * random.fraction());
}
