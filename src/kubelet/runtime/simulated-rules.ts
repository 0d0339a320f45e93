/**
 * How a simulated container behaves, from annotations of its pod. Each is a list `key=value,…`; `-CONTAINER` at the end of the
 * annotation's name makes it one container's. Times are Go durations (`1m30s`, `200ms`).
 *
 * - `simulated.coracle.dev/exit: after=5s,code=1,times=3,reason=OOMKilled,message=…` ends by itself; `times`: only the first n attempts
 * - `simulated.coracle.dev/stop: after=2s,code=143` how it answers the stop signal (default: at once, code 0)
 * - `simulated.coracle.dev/start: after=3s,error=…` time until it runs, or why it cannot
 * - `simulated.coracle.dev/exec: code=1,output=…` what every command run in it gives
 * - `simulated.coracle.dev/pull: after=1s,error=…,times=2` how its images come; `times`: only the first n pulls fail
 * - `simulated.coracle.dev/usage: cpu-millis=250,memory-bytes=67108864` what its statistics show; `disk-bytes`, `log-bytes`, `inodes`,
 *   `processes` and `volume-bytes-VOLUME` beside them: together they bring the node under pressure, or the pod over its limits
 */
export type RuleName = "exit" | "stop" | "start" | "exec" | "pull" | "usage";

/** Of a container that says nothing. */
export const defaultMemoryBytes = 10 * 1024 * 1024;

export type Rule = Readonly<Record<string, string>>;

/** Undefined when the pod says nothing. */
export function ruleFor(name: RuleName, annotations: Readonly<Record<string, string>> | undefined, container?: string): Rule | undefined {
  if (annotations === undefined) return undefined;
  const key = `simulated.coracle.dev/${name}`;
  const text = (container === undefined ? undefined : annotations[`${key}-${container}`]) ?? annotations[key];
  return text === undefined ? undefined : parseRule(text);
}

export function parseRule(text: string): Rule {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return Object.fromEntries(
    parts.map((part) => {
      const at = part.indexOf("=");
      return at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
    }),
  );
}

/** A number of the rule, or `otherwise`. */
export function ruleNumber(rule: Rule | undefined, key: string, otherwise: number): number {
  const value = Number(rule?.[key] ?? Number.NaN);
  return Number.isFinite(value) ? value : otherwise;
}

/** A time of the rule in milliseconds, or `otherwise`. */
export function ruleTimeMs(rule: Rule | undefined, key: string, otherwise: number): number {
  const text = rule?.[key];
  if (text === undefined) return otherwise;
  let totalMs = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)(ms|s|m|h)/g)) totalMs += Number(count) * unitMs[unit as keyof typeof unitMs];
  return totalMs;
}

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
