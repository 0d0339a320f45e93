/** Flags of kube-apiserver that the server understands (`--apiserver.FLAG=…`), as settings. */
import gateDefaults from "../../api/data/feature-gates.json" with { type: "json" };
import flagTable from "../../api/data/apiserver-flags.json" with { type: "json" };
import { AddressRange } from "../../apiserver/services/address-range.ts";
import type { ServerSettings } from "../../apiserver/server-state.ts";
import { UsageError } from "../arguments.ts";
import type { UpOptions } from "../up-options.ts";

export interface ApiServerFlags {
  readonly settings: Omit<ServerSettings, "advertiseAddress" | "securePort" | "clientAuthority" | "maxBodyBytes">;
  readonly advertiseAddress: string | undefined;
  /** First address of the service range: the `kubernetes` Service's. */
  readonly serviceAddress: string;
  readonly gates: Readonly<Record<string, boolean>>;
  readonly allowsBootstrapTokens: boolean;
  readonly admission: { readonly enabled: readonly string[]; readonly disabled: readonly string[] };
}

type Flags = ReadonlyMap<string, readonly string[]>;

/** Throws UsageError for a flag that kube-apiserver does not have, or a value that it would refuse. */
export function apiServerFlags(flags: Flags, options: Pick<UpOptions, "serviceCidrs">): ApiServerFlags {
  for (const name of flags.keys()) if (!Object.hasOwn(flagTable, name)) throw new UsageError(`kube-apiserver has no flag --${name}`);
  const serviceCidrs = lists(flags, "service-cluster-ip-range") ?? options.serviceCidrs;
  const issuer = last(flags, "service-account-issuer") ?? "https://kubernetes.default.svc.cluster.local";
  return {
    settings: {
      storageRoot: `${last(flags, "etcd-prefix") ?? "/registry"}/`,
      requestTimeoutMs: seconds(flags, "request-timeout", 60) * 1000,
      minRequestTimeoutMs: seconds(flags, "min-request-timeout", 1800) * 1000,
      eventTtlSeconds: seconds(flags, "event-ttl", 3600),
      anonymousAuth: last(flags, "anonymous-auth") !== "false",
      ...inFlightSettings(flags),
      serviceAccountIssuer: issuer,
      apiAudiences: lists(flags, "api-audiences") ?? [issuer],
      allowPrivileged: last(flags, "allow-privileged") !== "false",
      serviceCidrs,
      nodePortRange: portRange(last(flags, "service-node-port-range") ?? "30000-32767"),
    },
    advertiseAddress: last(flags, "advertise-address"),
    serviceAddress: new AddressRange(serviceCidrs[0]!).first,
    gates: readGates(lists(flags, "feature-gates") ?? []),
    allowsBootstrapTokens: last(flags, "enable-bootstrap-token-auth") === "true",
    admission: { enabled: ["NodeRestriction", ...(lists(flags, "enable-admission-plugins") ?? [])], disabled: lists(flags, "disable-admission-plugins") ?? [] },
  };
}

const last = (flags: Flags, name: string) => flags.get(name)?.at(-1);

/** Comma-separated values; repeated flags add up. */
function lists(flags: Flags, name: string): string[] | undefined {
  return flags.get(name)?.flatMap((text) => text.split(",")).filter((item) => item !== "");
}

const unitSeconds: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 };

/** A Go duration or a plain number of seconds. */
function seconds(flags: Flags, name: string, fallback: number): number {
  const text = last(flags, name);
  if (text === undefined) return fallback;
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^(\d+(\.\d+)?(h|ms|m|s))+$/.test(text)) throw new UsageError(`--${name} wants a duration such as 1m30s; not ${JSON.stringify(text)}`);
  let total = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(h|ms|m|s)/g)) total += Number(amount) * unitSeconds[unit!]!;
  return total;
}

/** How many requests are answered at a time. */
function inFlightSettings(flags: Flags): Pick<ServerSettings, "hasPriorityAndFairness" | "maxRequestsInFlight" | "maxMutatingRequestsInFlight"> {
  const read = (name: string, fallback: number) => {
    const count = integer(flags, name, fallback);
    if (count < 0) throw new UsageError(`--${name} can not be negative value`);
    return count;
  };
  const maxRequestsInFlight = read("max-requests-inflight", 400);
  const maxMutatingRequestsInFlight = read("max-mutating-requests-inflight", 200);
  const hasPriorityAndFairness = boolean(flags, "enable-priority-and-fairness", true);
  if (hasPriorityAndFairness && maxRequestsInFlight + maxMutatingRequestsInFlight === 0) {
    throw new UsageError("invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive");
  }
  return { hasPriorityAndFairness, maxRequestsInFlight, maxMutatingRequestsInFlight };
}

/** Throws as the flag parser of Go does. */
function integer(flags: Flags, name: string, fallback: number): number {
  const text = last(flags, name);
  if (text === undefined) return fallback;
  if (!/^[+-]?\d+$/.test(text)) throw new UsageError(`invalid argument ${JSON.stringify(text)} for "--${name}" flag: strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

function boolean(flags: Flags, name: string, fallback: boolean): boolean {
  const text = last(flags, name);
  if (text === undefined) return fallback;
  if (["1", "t", "T", "true", "TRUE", "True", ""].includes(text)) return true;
  if (["0", "f", "F", "false", "FALSE", "False"].includes(text)) return false;
  throw new UsageError(`invalid argument ${JSON.stringify(text)} for "--${name}" flag: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function portRange(text: string): { first: number; last: number } {
  const match = /^(\d+)-(\d+)$/.exec(text);
  if (match === null || Number(match[1]) > Number(match[2])) throw new UsageError(`--service-node-port-range wants FIRST-LAST; not ${JSON.stringify(text)}`);
  return { first: Number(match[1]), last: Number(match[2]) };
}

interface GateDefault {
  readonly default: boolean;
  readonly stage: string;
}

/** Every gate's state: the defaults, then `AllAlpha` and `AllBeta`, then what is named. */
function readGates(pairs: readonly string[]): Record<string, boolean> {
  const asked = new Map(pairs.map((pair) => splitGate(pair)));
  const gates: Record<string, boolean> = {};
  for (const [name, gate] of Object.entries(gateDefaults as Record<string, GateDefault>)) {
    const all = gate.stage === "ALPHA" ? asked.get("AllAlpha") : gate.stage === "BETA" ? asked.get("AllBeta") : undefined;
    gates[name] = asked.get(name) ?? all ?? gate.default;
  }
  return gates;
}

function splitGate(pair: string): [string, boolean] {
  const [name = "", value = ""] = pair.split("=");
  if (!Object.hasOwn(gateDefaults, name)) throw new UsageError(`unrecognized feature gate: ${name}`);
  if (value !== "true" && value !== "false") throw new UsageError(`invalid value of feature gate ${name}: ${value}`);
  return [name, value === "true"];
}
