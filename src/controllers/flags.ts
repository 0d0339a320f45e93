import { gateStates } from "../api/feature-gates.ts";
import type { GateStates } from "../api/feature-gates.ts";

/** Flags of kube-controller-manager, by name without dashes, each with all its values; as the reference page of that command lists them. */
export type ManagerFlags = ReadonlyMap<string, readonly string[]>;

/** The last value of a flag, or its default. */
export function textFlag(flags: ManagerFlags, name: string, fallback: string): string {
  return flags.get(name)?.at(-1) ?? fallback;
}

export function numberFlag(flags: ManagerFlags, name: string, fallback: number): number {
  const text = flags.get(name)?.at(-1);
  if (text === undefined) return fallback;
  const value = Number(text);
  if (text === "" || Number.isNaN(value)) throw new FlagError(name, text, "not a number");
  return value;
}

export function booleanFlag(flags: ManagerFlags, name: string, fallback: boolean): boolean {
  const text = flags.get(name)?.at(-1);
  if (text === undefined) return fallback;
  if (text === "true" || text === "false") return text === "true";
  throw new FlagError(name, text, "neither true nor false");
}

/** A duration as Go writes it (`5m0s`, `1h30m`, `500ms`), in ms. */
export function durationFlag(flags: ManagerFlags, name: string, fallbackMs: number): number {
  const text = flags.get(name)?.at(-1);
  if (text === undefined) return fallbackMs;
  if (text === "0") return 0;
  let total = 0;
  let rest = text;
  while (rest !== "") {
    const part = /^(\d+(?:\.\d+)?)(ms|h|m|s)/.exec(rest);
    if (part === null) throw new FlagError(name, text, "no duration");
    total += Number(part[1]) * unitMs[part[2]!]!;
    rest = rest.slice(part[0].length);
  }
  return total;
}

/** Whether a feature gate is on, by `--feature-gates` or by default. */
export function gateFlag(flags: ManagerFlags, gate: string): boolean {
  const values = flags.get("feature-gates") ?? [];
  const states = gateStates(values.flatMap((value) => value.split(",")).filter((pair) => pair !== ""));
  if (typeof states.fault === "string") throw new FlagError("feature-gates", values.join(), states.fault);
  return (states as GateStates)[gate] === true;
}

/** A flag has a value that cannot be used. */
export class FlagError extends Error {
  override name = "FlagError";
  readonly reason = "InvalidFlag";
  constructor(flag: string, value: string, fault: string) {
    super(`invalid value "${value}" for --${flag}: ${fault}`);
  }
}

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
