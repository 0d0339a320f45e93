/** A Service's plan as nftables objects: elements of the shared maps and, where it needs them, chains and sets of its own. */
import { createHash } from "node:crypto";
import { ipFamilyOf } from "../../apimachinery/net.ts";
import type { IpFamily } from "../../apimachinery/net.ts";
import type { Backend } from "../backends.ts";
import type { Frontend, ServicePlan } from "../plan.ts";
import { familyWords, maxSharedBackends, pickChainName } from "./table-skeleton.ts";

/** The units of one address family. Equal plans give equal units. */
export function ruleUnits(plan: ServicePlan, family: IpFamily): RuleUnit[] {
  return [
    ...plan.clusterAddresses.filter((address) => ipFamilyOf(address) === family).map((address) => addressUnit("cluster-ips", address)),
    ...plan.localAddresses.filter((address) => ipFamilyOf(address) === family).map((address) => addressUnit("hairpin", `${address} . ${address}`)),
    ...plan.frontends.filter((frontend) => frontend.family === family).map(frontendUnit),
  ];
}

/**
 * What belongs together and has one owner: two Services may ask for the same external address and port, then the first has it.
 * `claim` says what is asked for.
 */
export interface RuleUnit {
  readonly claim: string;
  readonly elements: readonly MapElement[];
  /** Made before the elements; removed after them, when nobody's unit has them any more. */
  readonly chains: readonly Chain[];
  readonly sets: readonly DynamicSet[];
}

export interface MapElement {
  /** A set's or map's name. */
  readonly map: string;
  readonly key: string;
  /** Empty in sets. */
  readonly value: string;
}

export interface Chain {
  readonly name: string;
  readonly rules: readonly string[];
}

export interface DynamicSet {
  readonly name: string;
  /** Seconds after which an address that is not seen is forgotten. */
  readonly timeoutSeconds: number;
}

function addressUnit(set: string, key: string): RuleUnit {
  return { claim: `${set} ${key}`, elements: [{ map: set, key, value: "" }], chains: [], sets: [] };
}

function frontendUnit(frontend: Frontend): RuleUnit {
  const isNodePort = frontend.kind === "nodePort";
  const key = `${isNodePort ? "" : `${frontend.address} . `}${frontend.protocol} . ${frontend.port}`;
  const claim = `${isNodePort ? "node-ports" : "service-ips"} ${key}`;
  const { backends, insideBackends = [] } = frontend;
  const refusal: MapElement[] =
    backends.length > 0
      ? []
      : [{ map: isNodePort ? "no-backend-node-ports" : "no-backend-ips", key, value: frontend.ifEmpty === "drop" ? "drop" : "goto reject-now" }];
  if (backends.length === 0 && insideBackends.length === 0) return { claim, elements: refusal, chains: [], sets: [] };
  const led = isPlain(frontend) ? plainUnit(frontend, key) : ownChains(frontend, hashOf(claim));
  const entry: MapElement = { map: isNodePort ? "node-ports" : "service-ips", key, value: `goto ${led.entry}` };
  return { claim, elements: [...refusal, entry, ...led.elements], chains: led.chains, sets: led.sets };
}

function isPlain({ affinitySeconds, sourceRanges, insideBackends, backends }: Frontend): boolean {
  if (affinitySeconds !== undefined || sourceRanges !== undefined || insideBackends !== undefined) return false;
  return backends.length <= maxSharedBackends;
}

interface Led {
  readonly entry: string;
  readonly elements: readonly MapElement[];
  readonly chains: readonly Chain[];
  readonly sets: readonly DynamicSet[];
}

function plainUnit(frontend: Frontend, key: string): Led {
  const isNodePort = frontend.kind === "nodePort";
  const map = isNodePort ? "node-port-backends" : "service-backends";
  return {
    entry: pickChainName({ isNodePort, isMasqueraded: frontend.masquerade === "always", count: frontend.backends.length }),
    elements: frontend.backends.map(({ address, port }, index) => ({ map, key: `${key} . ${index}`, value: `${address} . ${port}` })),
    chains: [],
    sets: [],
  };
}

/** Chains of a frontend's own, for what the shared ones cannot say. `id` makes their names. */
function ownChains(frontend: Frontend, id: string): Led {
  const { backends, insideBackends, sourceRanges, affinitySeconds, family } = frontend;
  const ip = familyWords(family).table;
  const everyBackend = new Map([...backends, ...(insideBackends ?? [])].map((backend) => [textOf(backend), backend]));
  const sticky = affinitySeconds === undefined ? undefined : stickiness(frontend, [...everyBackend.values()], { id, seconds: affinitySeconds });
  const spread = (targets: readonly Backend[]) => (sticky === undefined ? spreadRules(frontend, targets) : sticky.rulesFor(targets));
  const entry = `service-${id}`;
  const inside = `inside-${id}`;
  const rules = [
    ...(sourceRanges === undefined ? [] : [sourceRanges.length === 0 ? "drop" : `${ip} saddr != { ${sourceRanges.join(", ")} } drop`]),
    ...(insideBackends === undefined || insideBackends.length === 0
      ? []
      : [`${ip} saddr @pods goto ${inside}`, "fib saddr type local jump mark-masquerade", `fib saddr type local goto ${inside}`]),
    ...(frontend.masquerade === "always" ? ["jump mark-masquerade"] : []),
    ...spread(backends),
  ];
  return {
    entry,
    elements: [],
    chains: [
      { name: entry, rules },
      ...(insideBackends === undefined || insideBackends.length === 0 ? [] : [{ name: inside, rules: spread(insideBackends) }]),
      ...(sticky?.chains ?? []),
    ],
    sets: sticky?.sets ?? [],
  };
}

function spreadRules({ family, protocol }: Frontend, backends: readonly Backend[]): string[] {
  if (backends.length === 0) return [];
  const ip = familyWords(family).table;
  if (backends.length === 1) return [`meta l4proto ${protocol} dnat ${ip} to ${destination(backends[0]!, family)}`];
  const choices = backends.map(({ address, port }, index) => `${index} : ${address} . ${port}`).join(", ");
  return [`meta l4proto ${protocol} dnat ${ip} to numgen random mod ${backends.length} map { ${choices} }`];
}

/** Each backend remembers its clients in a set of its own, so that it keeps them while others come and go. */
function stickiness(frontend: Frontend, backends: readonly Backend[], { id, seconds }: { id: string; seconds: number }) {
  const { family, protocol } = frontend;
  const ip = familyWords(family).table;
  const nameOf = (backend: Backend) => `${id}-${hashOf(`${textOf(backend)} ${seconds}`)}`;
  return {
    sets: backends.map((backend) => ({ name: `clients-${nameOf(backend)}`, timeoutSeconds: seconds })),
    chains: backends.map((backend) => ({
      name: `backend-${nameOf(backend)}`,
      rules: [
        `update @clients-${nameOf(backend)} { ${ip} saddr timeout ${seconds}s }`,
        `meta l4proto ${protocol} dnat ${ip} to ${destination(backend, family)}`,
      ],
    })),
    rulesFor: (targets: readonly Backend[]) => {
      if (targets.length === 0) return [];
      const known = targets.map((backend) => `${ip} saddr @clients-${nameOf(backend)} goto backend-${nameOf(backend)}`);
      const choices = targets.map((backend, index) => `${index} : goto backend-${nameOf(backend)}`).join(", ");
      return [...known, targets.length === 1 ? `goto backend-${nameOf(targets[0]!)}` : `numgen random mod ${targets.length} vmap { ${choices} }`];
    },
  };
}

function destination({ address, port }: Backend, family: IpFamily): string {
  return family === "IPv4" ? `${address}:${port}` : `[${address}]:${port}`;
}

const textOf = ({ address, port }: Backend) => `${address} ${port}`;

/** Names of nft objects are short; 64 bits keep those of one table apart. */
function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
