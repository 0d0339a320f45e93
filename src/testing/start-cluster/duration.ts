/** `2h`, `1m30s`, `250ms`, `3d`, or a number of ms → ms. Throws a RangeError for anything else. */
export function durationMs(duration: number | string): number {
  if (typeof duration === "number") return duration;
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(duration)) throw new RangeError(`${JSON.stringify(duration)} is no duration: write 2h, 1m30s, 250ms or 3d`);
  let totalMs = 0;
  for (const [, count, unit] of duration.matchAll(/([\d.]+)(ms|s|m|h|d)/g)) totalMs += Number(count) * unitMs[unit as keyof typeof unitMs];
  return totalMs;
}

/** `1h2m3.5s`: how long after the start something happened. */
export function elapsedText(elapsedMs: number): string {
  const hours = Math.floor(elapsedMs / 3_600_000);
  const minutes = Math.floor(elapsedMs / 60_000) % 60;
  const seconds = ((elapsedMs % 60_000) / 1000).toFixed(3).replace(/\.?0+$/, "");
  return `${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${seconds}s`;
}

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
