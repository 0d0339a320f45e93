/** Feature gates: how each stands by default in a release, and what `--feature-gates` makes of it (documentation page "Feature Gates"). */
import current from "./data/feature-gates.json" with { type: "json" };
import emulated from "./data/feature-gates-emulated.json" with { type: "json" };
import { goQuote } from "../apimachinery/go/go-quote.ts";

export interface Gate {
  readonly default: boolean;
  /** `ALPHA`, `BETA`, `GA`, `DEPRECATED`. */
  readonly stage: string;
}

/** The release whose gates are in force unless another one is emulated. */
export const currentRelease = "1.37";

const currentGates = current as Readonly<Record<string, Gate>>;
/** By release, then gate: `BETA off`, or `not known`. */
const earlier = emulated as Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Gates that count only together with others. */
const dependencies: Readonly<Record<string, readonly string[]>> = {
  WorkloadWithJob: ["GenericWorkload"],
};

/** All gates that `release` knew. */
export function gatesOf(release: string): Readonly<Record<string, Gate>> {
  const changes = Object.hasOwn(earlier, release) ? earlier[release]! : {};
  const gates = Object.entries(currentGates).map(([name, gate]): [string, Gate | undefined] => {
    if (!Object.hasOwn(changes, name)) return [name, gate];
    const [stage = "", state] = changes[name]!.split(" ");
    return [name, changes[name] === "not known" ? undefined : { stage, default: state === "on" }];
  });
  return Object.fromEntries(gates.filter((entry): entry is [string, Gate] => entry[1] !== undefined));
}

export type GateStates = Readonly<Record<string, boolean>>;

/** Every gate's state: the release's defaults, then `AllAlpha` and `AllBeta`, then what is named; or why `pairs` (`Name=true`) cannot be. */
export function gateStates(pairs: readonly string[], release: string = currentRelease): GateStates | { readonly fault: string } {
  const gates = gatesOf(release);
  const asked = new Map<string, boolean>();
  for (const pair of pairs) {
    const parsed = parsePair(pair);
    if ("fault" in parsed) return parsed;
    if (!Object.hasOwn(currentGates, parsed.name)) return { fault: `unrecognized feature gate: ${parsed.name}` };
    asked.set(parsed.name, parsed.value);
  }
  const states: Record<string, boolean> = {};
  for (const [name, gate] of Object.entries(gates)) {
    const all = gate.stage === "ALPHA" ? asked.get("AllAlpha") : gate.stage === "BETA" ? asked.get("AllBeta") : undefined;
    states[name] = asked.get(name) ?? all ?? gate.default;
  }
  for (const [name, needed] of Object.entries(dependencies)) {
    const missing = needed.filter((one) => states[one] !== true);
    if (states[name] === true && missing.length > 0) return { fault: `${name} is enabled, but depends on features that are disabled: [${missing.join(" ")}]` };
  }
  return states;
}

/** Every gate as it stands by default. */
export const defaultGates: GateStates = Object.fromEntries(Object.entries(currentGates).map(([name, gate]) => [name, gate.default]));

function parsePair(pair: string): { readonly name: string; readonly value: boolean } | { readonly fault: string } {
  const equals = pair.indexOf("=");
  const name = (equals < 0 ? pair : pair.slice(0, equals)).trim();
  if (equals < 0) return { fault: `missing bool value for ${name}` };
  const text = pair.slice(equals + 1).trim();
  const value = parseBool(text);
  return value === undefined
    ? { fault: `invalid value of ${name}=${text}, err: strconv.ParseBool: parsing ${goQuote(text)}: invalid syntax` }
    : { name, value };
}

/** The spellings of truth that Go's strconv.ParseBool knows. */
export function parseBool(text: string): boolean | undefined {
  if (["1", "t", "T", "true", "TRUE", "True"].includes(text)) return true;
  return ["0", "f", "F", "false", "FALSE", "False"].includes(text) ? false : undefined;
}
