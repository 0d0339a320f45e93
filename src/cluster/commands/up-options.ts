/** Options of `coracle up`, read and checked. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { cidrContainsCidr, parseCidr } from "../../apimachinery/net.ts";
import { UsageError } from "./arguments.ts";
import type { Arguments, OptionTable } from "./arguments.ts";
import { nodePodCidrs } from "../nodes/node-place.ts";

export const upOptionTable: OptionTable = {
  "data-dir": "value",
  port: "value",
  "bind-address": "value",
  store: "value",
  runtime: "value",
  "containerd-socket": "value",
  nodes: "value",
  "node-name": "value",
  components: "value",
  "service-cidr": "value",
  "pod-cidr": "value",
  "node-cidr": "value",
  "load-balancer-cidr": "value",
  "node-pod-cidr": "value",
  detach: "boolean",
  "no-install": "boolean",
  v: "boolean",
};

export const componentNames = ["apiserver", "controllers", "scheduler", "kubelet", "proxy", "dns", "network", "cloud", "metrics", "storage", "nodes"] as const;
export type ComponentName = (typeof componentNames)[number];
export type RuntimeName = "auto" | "containerd" | "process" | "simulated";

export interface UpOptions {
  readonly dataDir: string;
  readonly port: number;
  readonly bindAddress: string;
  /** `lmdb`, `memory` or `etcd=URL,…`. */
  readonly store: string;
  readonly runtime: RuntimeName;
  readonly containerdSocket: string | undefined;
  readonly nodes: number;
  readonly nodeName: string | undefined;
  readonly components: ReadonlySet<ComponentName>;
  readonly serviceCidrs: readonly string[];
  readonly podCidrs: readonly string[];
  /** Where further nodes of this machine have their addresses. IPv4. */
  readonly nodeCidr: string;
  /** Where Services of type LoadBalancer have their addresses. */
  readonly loadBalancerCidrs: readonly string[];
  /** This node's share of the pods' ranges, one for each. */
  readonly nodePodCidrs: readonly string[];
  /** Whether that share was given: to a node beside the first. */
  readonly isFurtherNode: boolean;
  readonly isVerbose: boolean;
  readonly mayInstall: boolean;
  readonly flags: Arguments["flags"];
}

const defaultPodCidr = "10.244.0.0/16";

/** Throws UsageError. */
export function readUpOptions({ options: given, operands, flags }: Arguments): UpOptions {
  const options = withUpstreamNames(given, flags.get("apiserver") ?? new Map());
  if (operands.length > 0) throw new UsageError(`unexpected word ${JSON.stringify(operands[0])}: \`coracle help up\` lists the options`);
  const runtime = options.get("runtime") ?? "auto";
  if (!["auto", "containerd", "process", "simulated"].includes(runtime))
    throw new UsageError(`--runtime is one of auto, containerd, process, simulated; not ${JSON.stringify(runtime)}`);
  const store = options.get("store") ?? "lmdb";
  if (store !== "lmdb" && store !== "memory" && !store.startsWith("etcd="))
    throw new UsageError(`--store is one of lmdb, memory, etcd=URL,…; not ${JSON.stringify(store)}`);
  requireApart(options);
  return {
    dataDir: resolve(options.get("data-dir") ?? defaultDataDir()),
    port: integer(options, "port", { fallback: 6443, min: 0, max: 65_535 }),
    bindAddress: options.get("bind-address") ?? "0.0.0.0",
    store,
    runtime: runtime as RuntimeName,
    containerdSocket: options.get("containerd-socket"),
    nodes: integer(options, "nodes", { fallback: 1, min: 1, max: 10_000 }),
    nodeName: options.get("node-name"),
    components: readComponents(options.get("components")),
    serviceCidrs: cidrs(options, "service-cidr", "10.0.0.0/16"),
    podCidrs: cidrs(options, "pod-cidr", defaultPodCidr),
    nodeCidr: nodeCidr(options),
    loadBalancerCidrs: cidrs(options, "load-balancer-cidr", "10.242.0.0/24"),
    isFurtherNode: options.has("node-pod-cidr"),
    nodePodCidrs: options.has("node-pod-cidr") ? cidrs(options, "node-pod-cidr", "") : nodePodCidrs(cidrs(options, "pod-cidr", defaultPodCidr), 0),
    isVerbose: options.get("v") === "true",
    mayInstall: options.get("no-install") !== "true",
    flags,
  };
}

/** Flags of kube-apiserver for what has an option of ours, which goes before them. */
function withUpstreamNames(options: Arguments["options"], flags: ReadonlyMap<string, readonly string[]>): Arguments["options"] {
  const etcd = flags.get("etcd-servers")?.at(-1);
  const named = { port: flags.get("secure-port")?.at(-1), "bind-address": flags.get("bind-address")?.at(-1), store: etcd && `etcd=${etcd}` };
  return new Map([...Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined), ...options]);
}

/** Root's data lies under /var/lib, a user's under the XDG data folder. */
export function defaultDataDir(): string {
  if (process.getuid?.() === 0) return "/var/lib/coracle";
  return join(process.env["XDG_DATA_HOME"] ?? join(homedir(), ".local", "share"), "coracle");
}

function readComponents(text: string | undefined): ReadonlySet<ComponentName> {
  if (text === undefined) return new Set(componentNames);
  const names = list(text);
  for (const name of names) {
    if (!(componentNames as readonly string[]).includes(name))
      throw new UsageError(`--components knows ${componentNames.join(", ")}; not ${JSON.stringify(name)}`);
  }
  return new Set(names as ComponentName[]);
}

function integer(options: ReadonlyMap<string, string>, name: string, { fallback, min, max }: { fallback: number; min: number; max: number }): number {
  const text = options.get(name);
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) throw new UsageError(`--${name} wants a number from ${min} to ${max}; not ${JSON.stringify(text)}`);
  return value;
}

/** At least one CIDR of at least 16 addresses: the first ones have tasks. */
function cidrs(options: ReadonlyMap<string, string>, name: string, fallback: string): readonly string[] {
  const texts = list(options.get(name) ?? fallback);
  for (const text of texts.length === 0 ? [""] : texts) {
    const cidr = parseCidr(text);
    if (cidr === undefined || cidr.last - cidr.first < 15n)
      throw new UsageError(`--${name} wants a range of addresses such as ${fallback}; not ${JSON.stringify(text)}`);
  }
  return texts;
}

/** Throws UsageError when two of the ranges have addresses in common: the rules for one would take the other's packets. Ranges that not every cluster uses count when they are given. */
function requireApart(options: ReadonlyMap<string, string>): void {
  const defaults = { "service-cidr": "10.0.0.0/16", "pod-cidr": defaultPodCidr, "node-cidr": "10.243.0.0/24", "load-balancer-cidr": "10.242.0.0/24" };
  const isUsed = (name: string) => options.has(name) || name === "service-cidr" || name === "pod-cidr";
  const ranges = Object.entries(defaults)
    .filter(([name]) => isUsed(name))
    .flatMap(([name, fallback]) => cidrs(options, name, fallback).map((text) => ({ name, text, cidr: parseCidr(text)! })));
  for (const [index, one] of ranges.entries()) {
    const other = ranges.slice(index + 1).find(({ cidr }) => cidrContainsCidr(cidr, one.cidr) || cidrContainsCidr(one.cidr, cidr));
    if (other !== undefined) throw new UsageError(`--${one.name} ${one.text} and --${other.name} ${other.text} overlap: choose ranges that do not`);
  }
}

function nodeCidr(options: ReadonlyMap<string, string>): string {
  const texts = cidrs(options, "node-cidr", "10.243.0.0/24");
  if (texts.length > 1 || parseCidr(texts[0]!)?.family !== "IPv4")
    throw new UsageError(`--node-cidr wants one IPv4 range; not ${JSON.stringify(texts.join(","))}`);
  return texts[0]!;
}

const list = (text: string) =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
