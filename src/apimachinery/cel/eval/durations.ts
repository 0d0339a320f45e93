/** Durations as Go writes them: `1h30m`, `-1.5s`. */
import { Duration } from "./values.ts";

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;
export const secondNanos = 1_000_000_000n;
const maxNanos = 2n ** 63n - 1n;

/** Undefined for what is no duration, or beyond 290 years. */
export function parseDuration(text: string): Duration | undefined {
  const isNegative = text.startsWith("-");
  const body = /^[+-]/.test(text) ? text.slice(1) : text;
  if (body === "0") return new Duration(0n);
  if (body === "") return undefined;
  let total = 0n;
  part.lastIndex = 0;
  for (let at = 0; at < body.length; at = part.lastIndex) {
    part.lastIndex = at;
    const match = part.exec(body);
    if (match === null) return undefined;
    const [, whole, fraction = "", unit] = match as unknown as [string, string, string | undefined, string];
    if (whole === "" && fraction === "") return undefined;
    const digits = fraction.slice(0, 18);
    total += BigInt(whole === "" ? 0 : whole) * units[unit]! + (BigInt(digits === "" ? 0 : digits) * units[unit]!) / 10n ** BigInt(digits.length);
    if (total > maxNanos + (isNegative ? 1n : 0n)) return undefined;
  }
  return new Duration(isNegative ? -total : total);
}

const wordyUnits: Readonly<Record<string, bigint>> = {
  nano: 1n,
  micro: 1000n,
  milli: 1_000_000n,
  sec: secondNanos,
  second: secondNanos,
  min: 60n * secondNanos,
  minute: 60n * secondNanos,
  hr: 3600n * secondNanos,
  hour: 3600n * secondNanos,
  d: 86_400n * secondNanos,
  day: 86_400n * secondNanos,
  w: 604_800n * secondNanos,
  wk: 604_800n * secondNanos,
  week: 604_800n * secondNanos,
};

/** The duration format of schemas takes `3 days` besides. */
export function parseWordyDuration(text: string): Duration | undefined {
  const match = /^(\d+)\s*([A-Za-zµ]+)$/.exec(text.trim());
  const unit = match?.[2];
  const nanos = unit === undefined ? undefined : (units[unit] ?? wordyUnits[unit] ?? wordyUnits[unit.replace(/s$/, "")]);
  const total = nanos === undefined ? undefined : BigInt(match![1]!) * nanos;
  return total === undefined || total > maxNanos ? undefined : new Duration(total);
}

/** As `string()` gives it: seconds as a double with as many decimals as tell it apart. */
export function formatDuration({ nanos }: Duration): string {
  const seconds = Number(nanos / secondNanos) + Number(nanos % secondNanos) / 1e9;
  return `${Math.abs(seconds) < 1e-6 && seconds !== 0 ? seconds.toFixed(9).replace(/0+$/, "") : seconds}s`;
}
