/** A duration as Go writes it (`1m30s`, `500ms`, `0`) in ms; throws an Error with Go's text. */
export function parseDurationMs(text: string): number {
  if (text === "0") return 0;
  if (!/^-?(?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) throw new Error(`time: invalid duration ${JSON.stringify(text)}`);
  let totalMs = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d*)?)(ns|us|µs|ms|s|m|h)/g)) totalMs += Number(count) * unitMs[unit!]!;
  return text.startsWith("-") ? -totalMs : totalMs;
}

const unitMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** As Go prints it: `1m30s`, `500ms`, `1.5µs`, `0s`. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `-${formatDuration(-ms)}`;
  const nanos = Math.round(ms * 1e6);
  if (nanos > 0 && nanos < 1000) return `${nanos}ns`;
  if (nanos > 0 && nanos < 1_000_000) return `${nanos / 1000}µs`;
  if (nanos > 0 && nanos < 1_000_000_000) return `${nanos / 1_000_000}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = Math.round((ms % 60_000) * 1e6) / 1e9;
  return `${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${seconds}s`;
}
