/** The rules of NetworkPolicies as an nftables table: a chain for each pod and direction, and a set for each group of peers. Pure. */
import { createHash } from "node:crypto";
import type { IpFamily } from "../../apimachinery/net.ts";
import type { Allow, Direction, PodRules, PortRange } from "./policy-plan.ts";

export interface PolicyTable {
  /** Everything but what is in the sets. */
  readonly structure: string;
  /** By the set's name, its addresses. */
  readonly sets: ReadonlyMap<string, readonly string[]>;
}

const words = { IPv4: { ip: "ip", type: "ipv4_addr" }, IPv6: { ip: "ip6", type: "ipv6_addr" } } as const;

export function policyTable(table: string, family: IpFamily, rules: readonly PodRules[]): PolicyTable {
  const { ip, type } = words[family];
  const own = rules.filter((rule) => rule.family === family);
  const sets = new Map<string, readonly string[]>();
  const chains = own.map((rule) => chainText(rule, ip, sets)).join("");
  const map = (direction: Direction) => {
    const elements = own.filter((rule) => rule.direction === direction).map((rule) => `${rule.address} : jump ${chainName(rule)}`);
    return `  map ${direction} { type ${type} : verdict;${elements.length === 0 ? "" : ` elements = { ${elements.join(", ")} };`} }\n`;
  };
  const structure = `table ${ip} ${table} {
${[...sets.keys()].map((name) => `  set ${name} { type ${type}; }\n`).join("")}${chains}${map("egress")}${map("ingress")}  chain forward {
    type filter hook forward priority filter - 5;
    ct state established,related accept
    ${ip} saddr vmap @egress
    ${ip} daddr vmap @ingress
  }
  chain input {
    type filter hook input priority filter - 5;
    ct state established,related accept
    ${ip} saddr vmap @egress
  }
}
`;
  return { structure, sets };
}

/** A transaction from one table to the next: only sets' elements where nothing else differs. Empty when all is the same. */
export function tableChange(table: string, family: IpFamily, before: PolicyTable | undefined, after: PolicyTable): string {
  const { ip } = words[family];
  if (before?.structure !== after.structure)
    return `add table ${ip} ${table}\ndelete table ${ip} ${table}\n${after.structure}${[...after.sets].map(([name, addresses]) => elements(`${ip} ${table} ${name}`, addresses)).join("")}`;
  return [...after.sets]
    .filter(([name, addresses]) => before.sets.get(name)!.join() !== addresses.join())
    .map(([name, addresses]) => `flush set ${ip} ${table} ${name}\n${elements(`${ip} ${table} ${name}`, addresses)}`)
    .join("");
}

function elements(set: string, addresses: readonly string[]): string {
  return addresses.length === 0 ? "" : `add element ${set} { ${[...new Set(addresses)].join(", ")} }\n`;
}

function chainText(rule: PodRules, ip: string, sets: Map<string, readonly string[]>): string {
  const [other, toSelf] = rule.direction === "ingress" ? ["saddr", `${ip} saddr ${rule.address}`] : ["daddr", `${ip} daddr ${rule.address}`];
  const lines = rule.allows.flatMap((allow, index) => {
    const peer = peerMatch(allow, { match: `${ip} ${other}`, sets, name: `${chainName(rule)}-${index}` });
    return (allow.ports === undefined ? [""] : allow.ports.map(portMatch)).map((port) => [peer, port, "return"].filter(Boolean).join(" "));
  });
  return `  chain ${chainName(rule)} {\n${[`${toSelf} return`, ...lines, "drop"].map((line) => `    ${line}\n`).join("")}  }\n`;
}

/** A set is named by whose rule it is for: what is in it may change while the chains stay. */
function peerMatch({ peers }: Allow, { match, sets, name }: { match: string; sets: Map<string, readonly string[]>; name: string }): string {
  if (peers === undefined) return "";
  if ("cidr" in peers) return [`${match} ${peers.cidr}`, ...(peers.except.length === 0 ? [] : [`${match} != { ${peers.except.join(", ")} }`])].join(" ");
  sets.set(name, peers.addresses);
  return `${match} @${name}`;
}

function portMatch({ protocol, first, last }: PortRange): string {
  const name = protocol.toLowerCase();
  if (first === undefined) return `meta l4proto ${name}`;
  return `${name} dport ${first === last ? first : `${first}-${last}`}`;
}

function chainName({ direction, address }: PodRules): string {
  return `${direction}-${createHash("sha256").update(address).digest("hex").slice(0, 12)}`;
}
