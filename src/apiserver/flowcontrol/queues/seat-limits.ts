/**
 * How many seats each priority level has: its nominal share, how much of it others may use, how much it may use of theirs, and what it
 * gets at the moment (KEP-1040, borrowing between priority levels). All numbers are seats.
 */
import type { PriorityLevelConfigurationSpec } from "../../../api/flowcontrol-v1/types.ts";

export interface SeatLimits {
  readonly nominal: number;
  /** What others cannot borrow. */
  readonly lower: number;
  /** Nominal and all that may be borrowed. */
  readonly upper: number;
}

/** The limits of each level; `serverSeats` are shared in proportion to nominal shares, rounded up. */
export function seatLimits(levels: ReadonlyMap<string, PriorityLevelConfigurationSpec>, serverSeats: number): Map<string, SeatLimits> {
  const total = [...levels.values()].reduce((sum, spec) => sum + sharesOf(spec), 0);
  return new Map([...levels].map(([name, spec]) => [name, limitsOf(spec, serverSeats, total)]));
}

function limitsOf(spec: PriorityLevelConfigurationSpec, serverSeats: number, totalShares: number): SeatLimits {
  const nominal = totalShares > 0 ? Math.ceil((serverSeats * sharesOf(spec)) / totalShares) : 0;
  const lendable = Math.round((nominal * ((spec.limited ?? spec.exempt)?.lendablePercent ?? 0)) / 100);
  const borrowingPercent = spec.limited?.borrowingLimitPercent;
  const borrowing = borrowingPercent === undefined ? serverSeats : Math.round((nominal * borrowingPercent) / 100);
  return { nominal, lower: nominal - lendable, upper: nominal + borrowing };
}

function sharesOf(spec: PriorityLevelConfigurationSpec): number {
  return (spec.limited ?? spec.exempt)?.nominalConcurrencyShares ?? (spec.type === "Limited" ? 30 : 0);
}

export interface LevelDemand extends SeatLimits {
  readonly isExempt: boolean;
  /** Most seats wanted at one moment of the last period. */
  readonly peak: number;
  /** Demand as it lasts: rises at once and falls slowly. */
  readonly smoothed: number;
}

export interface Allotment {
  readonly limit: number;
  /** What the level ought to have when nobody is short. */
  readonly target: number;
}

/**
 * Shares the server's seats by demand: every level keeps what it needs of its own; the rest is given out so that all levels get the same
 * fraction of their targets, within their bounds. Returns the allotments in the order given, and that fraction.
 */
export function allotSeats(levels: readonly LevelDemand[], serverSeats: number): { readonly allotments: readonly Allotment[]; readonly fairFraction: number } {
  const floors = levels.map((level) => (level.isExempt ? Math.max(level.lower, level.peak) : Math.max(level.lower, Math.min(level.nominal, level.peak))));
  const targets = levels.map((level, index) => Math.max(floors[index]!, level.smoothed));
  const exemptSeats = levels.reduce((sum, level, index) => sum + (level.isExempt ? floors[index]! : 0), 0);
  const remaining = Math.max(0, serverSeats - exemptSeats);
  const items = levels.flatMap((level, index) =>
    level.isExempt ? [] : [{ low: floors[index]!, high: Math.max(floors[index]!, level.upper), target: targets[index]! }],
  );
  const fairFraction = fractionFor(items, remaining);
  const allotments = levels.map((level, index) => {
    const low = floors[index]!;
    const limit = level.isExempt ? low : Math.round(within(targets[index]! * fairFraction, low, Math.max(low, level.upper)));
    return { limit, target: targets[index]! };
  });
  return { allotments, fairFraction };
}

interface Item {
  readonly low: number;
  readonly high: number;
  readonly target: number;
}

/** The fraction F for which the sum of `within(F·target, low, high)` is `total`; 0 when even the lows are too much. */
function fractionFor(items: readonly Item[], total: number): number {
  const lowSum = items.reduce((sum, { low }) => sum + low, 0);
  if (lowSum >= total) return 0;
  // The sum grows with F and is linear between the fractions at which an item leaves its low or reaches its high.
  const bends = items
    .filter(({ target }) => target > 0)
    .flatMap(({ low, high, target }) => [low / target, high / target])
    .sort((a, b) => a - b);
  const sumAt = (fraction: number) => items.reduce((sum, { low, high, target }) => sum + within(fraction * target, low, high), 0);
  let from = 0;
  let fromSum = lowSum;
  for (const bend of bends) {
    const sum = sumAt(bend);
    if (sum >= total) return sum === fromSum ? bend : from + ((bend - from) * (total - fromSum)) / (sum - fromSum);
    from = bend;
    fromSum = sum;
  }
  return from;
}

function within(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** How much of the demand of before counts after a period. */
const decay = 0.977;

/** Demand after a period: up at once, down by a few percent. */
export function smoothDemand(before: number, period: { readonly average: number; readonly deviation: number; readonly peak: number }): number {
  const envelope = Math.min(period.peak, period.average + period.deviation);
  return Math.max(envelope, decay * before + (1 - decay) * envelope);
}

/** Demand after `periods` in which it stood at `steady` seats throughout. */
export function smoothSteadyDemand(before: number, steady: number, periods: number): number {
  return Math.max(steady, steady + (before - steady) * decay ** periods);
}
