import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";

/**
 * `<object>.<hex nanoseconds>`: the name under which an event about `objectName` is kept. The clock has milliseconds; what is below is
 * random, so that two events of one object in the same millisecond have different names.
 */
export function eventName(objectName: string, clock: Clock, random: Random): string {
  const nanoseconds = BigInt(Math.floor(clock.nowMs())) * 1_000_000n + BigInt(random.integer(1_000_000));
  const suffix = `.${nanoseconds.toString(16)}`;
  return `${objectName.slice(0, 253 - suffix.length)}${suffix}`;
}
