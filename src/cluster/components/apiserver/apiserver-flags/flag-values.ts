/** The flags of kube-apiserver by type: whether they exist, and whether each value is one of its type, in the words of upstream's flag parser. */
import flagTable from "../../../../api/data/apiserver-flags.json" with { type: "json" };
import { parseDuration } from "../../../../api/batch-v1/duration.ts";
import { parseBool } from "../../../../api/feature-gates.ts";
import { goQuote } from "../../../../apimachinery/go/go-quote.ts";
import { parseIp } from "../../../../apimachinery/net.ts";
import { UsageError } from "../../../commands/arguments.ts";

export type Flags = ReadonlyMap<string, readonly string[]>;

interface FlagType {
  readonly type: string;
  readonly deprecated?: boolean;
}

const types = flagTable as Readonly<Record<string, FlagType>>;

/** Flags that upstream still takes and that say nothing any more. */
const bygone: ReadonlySet<string> = new Set(["apiserver-count"]);

/** Throws UsageError for a flag that kube-apiserver does not have, and for a value that its type does not. */
export function checkFlagValues(flags: Flags): void {
  for (const [name, values] of flags) {
    if (bygone.has(name)) continue;
    if (!Object.hasOwn(types, name)) throw new UsageError(`unknown flag: --${name}`);
    for (const value of values) {
      const fault = faultOf(types[name]!.type, value);
      if (fault !== undefined) throw new UsageError(`invalid argument ${goQuote(value)} for ${goQuote(shown(name))} flag: ${fault}`);
    }
  }
}

/** What all storage keys begin with, with a final slash. */
export function storageRootOf(flags: Flags): string {
  return `${last(flags, "etcd-prefix") ?? "/registry"}/`;
}

const shown = (name: string) => (name === "v" ? "-v, --v" : `--${name}`);

function faultOf(type: string, value: string): string | undefined {
  switch (type) {
    case "bool":
      return parseBool(value) === undefined ? syntaxFault("ParseBool", value) : undefined;
    case "int":
      return /^[+-]?\d+$/.test(value) ? undefined : syntaxFault("ParseInt", value);
    case "Level":
      return /^\d+$/.test(value) ? undefined : syntaxFault("ParseUint", value);
    case "float":
    case "float32":
      return value.trim() !== "" && Number.isFinite(Number(value)) ? undefined : syntaxFault("ParseFloat", value);
    case "duration": {
      const parsed = parseDuration(value);
      return "fault" in parsed ? parsed.fault : undefined;
    }
    case "ip":
      return parseIp(value.trim()) === undefined ? `failed to parse IP: ${goQuote(value)}` : undefined;
    case "portRange": {
      const parsed = parsePortRange(value);
      return "fault" in parsed ? parsed.fault : undefined;
    }
    case "namedCertKey": {
      const parsed = parseNamedFiles(value);
      return "fault" in parsed ? parsed.fault : undefined;
    }
    default:
      return undefined;
  }
}

const syntaxFault = (parser: string, value: string) => `strconv.${parser}: parsing ${goQuote(value)}: invalid syntax`;

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** `30000-32767`, `30000+99` (that many more) or `30000`. */
export function parsePortRange(text: string): PortRange | { readonly fault: string } {
  const match = /^(\d+)(?:([-+])(\d+))?$/.exec(text.trim());
  if (match === null) return { fault: `unable to parse port range: ${text}` };
  const first = Number(match[1]);
  const second = Number(match[3] ?? 0);
  const last = match[2] === undefined ? first : match[2] === "+" ? first + second : second;
  if (first > 65_535 || last > 65_535) return { fault: `the port range cannot be greater than 65535: ${text}` };
  if (last < first) return { fault: `end port cannot be less than start port: ${text}` };
  return { first, last };
}

export const last = (flags: Flags, name: string): string | undefined => flags.get(name)?.at(-1);

/** Comma-separated values; repeated flags add up. */
export function lists(flags: Flags, name: string): string[] | undefined {
  return flags
    .get(name)
    ?.flatMap((text) => text.split(","))
    .filter((item) => item !== "");
}

export function isOn(flags: Flags, name: string, fallback: boolean): boolean {
  const text = last(flags, name);
  return text === undefined ? fallback : parseBool(text) === true;
}

export function numberOf(flags: Flags, name: string, fallback: number): number {
  return Number(last(flags, name) ?? fallback);
}

/** In seconds. */
export function secondsOf(flags: Flags, name: string, fallback: number): number {
  const text = last(flags, name);
  if (text === undefined) return fallback;
  const parsed = parseDuration(text);
  return "fault" in parsed ? fallback : parsed.seconds;
}

/** `a=true,b=false` of repeated flags, in order. */
export function pairsOf(flags: Flags, name: string): readonly (readonly [key: string, value: string])[] {
  return (lists(flags, name) ?? []).map((item) => {
    const equals = item.indexOf("=");
    return equals < 0 ? [item.trim(), ""] : [item.slice(0, equals).trim(), item.slice(equals + 1).trim()];
  });
}

export interface NamedFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** For which names; those of the certificate when undefined. */
  readonly names: readonly string[] | undefined;
}

/** Reads `CERTIFICATE,KEY[:NAME,…]`. */
export function parseNamedFiles(value: string): NamedFiles | { readonly fault: string } {
  const colon = value.indexOf(":");
  const names = colon < 0 ? undefined : value.slice(colon + 1).trim();
  if (names === "") return { fault: "empty names list is not allowed" };
  const files = (colon < 0 ? value : value.slice(0, colon)).split(",").map((file) => file.trim());
  if (files.length !== 2) return { fault: "expected comma separated certificate and key file paths" };
  return { certificateFile: files[0]!, keyFile: files[1]!, names: names?.split(",").map((name) => name.trim()) };
}
