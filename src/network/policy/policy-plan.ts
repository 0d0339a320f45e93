/**
 * NetworkPolicies as rules for the pods of one node (documentation page "Network Policies"; KEP-2079 for port ranges). A pod that policies
 * select for a direction may only do what one of them allows; pods that none selects do as they like. Pure.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { ipFamilyOf } from "../../apimachinery/net.ts";
import type { IpFamily } from "../../apimachinery/net.ts";
import { matchesLabels, selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from "../../api/networking-v1/types.ts";

export interface PodView {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  readonly ports: readonly { readonly name: string; readonly port: number; readonly protocol: string }[];
  /** Whether it runs on the node that the rules are for. */
  readonly isLocal: boolean;
}

export interface PolicySnapshot {
  readonly pods: readonly PodView[];
  /** Labels by namespace. */
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly policies: readonly DeepReadonly<NetworkPolicy>[];
}

export type Direction = "ingress" | "egress";

/** What a pod's address may receive, or send; everything else is dropped. */
export interface PodRules {
  readonly address: string;
  readonly family: IpFamily;
  readonly direction: Direction;
  readonly allows: readonly Allow[];
}

export interface Allow {
  /** The other side: addresses, a block, or (undefined) anybody. */
  readonly peers?: { readonly addresses: readonly string[] } | { readonly cidr: string; readonly except: readonly string[] };
  /** Ports of the receiving side; undefined: all. */
  readonly ports?: readonly PortRange[];
}

export interface PortRange {
  readonly protocol: string;
  /** Undefined: all of the protocol. */
  readonly first?: number;
  readonly last?: number;
}

export function planPolicies(snapshot: PolicySnapshot): PodRules[] {
  const rules: PodRules[] = [];
  const selections = snapshot.policies.map((policy) => ({ policy, selector: selectorFromObject(policy.spec?.podSelector ?? {}) }));
  const peers = new PeerIndex(snapshot);
  for (const pod of snapshot.pods.filter(({ isLocal }) => isLocal)) {
    const own = selections
      .filter(({ policy, selector }) => policy.metadata.namespace === pod.namespace && matchesLabels(selector, pod.labels))
      .map(({ policy }) => policy);
    for (const direction of ["ingress", "egress"] as const) {
      const policies = own.filter((policy) => directionsOf(policy).includes(direction));
      if (policies.length === 0) continue;
      for (const address of pod.addresses) {
        const family = ipFamilyOf(address)!;
        rules.push({ address, family, direction, allows: policies.flatMap((policy) => allowsOf(policy, { pod, direction, family, peers })) });
      }
    }
  }
  return rules;
}

/** Without `policyTypes` a policy is for ingress, and for egress when it has rules for it. */
function directionsOf({ spec }: DeepReadonly<NetworkPolicy>): Direction[] {
  const types = spec?.policyTypes ?? [];
  if (types.length > 0) return types.map((type) => type.toLowerCase() as Direction);
  return spec?.egress === undefined ? ["ingress"] : ["ingress", "egress"];
}

interface RuleContext {
  readonly pod: PodView;
  readonly direction: Direction;
  readonly family: IpFamily;
  readonly peers: PeerIndex;
}

function allowsOf(policy: DeepReadonly<NetworkPolicy>, context: RuleContext): Allow[] {
  const namespace = policy.metadata.namespace ?? "";
  const rules =
    context.direction === "ingress"
      ? (policy.spec?.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
      : (policy.spec?.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }));
  return rules.flatMap(({ peers = [], ports = [] }) => {
    const sides = peers.length === 0 ? [undefined] : peers;
    return sides.flatMap((peer) => allowsOfPeer(peer, ports, { ...context, namespace }));
  });
}

function allowsOfPeer(
  peer: DeepReadonly<NetworkPolicyPeer> | undefined,
  ports: readonly DeepReadonly<NetworkPolicyPort>[],
  context: RuleContext & { readonly namespace: string },
): Allow[] {
  const { family, direction, pod, peers, namespace } = context;
  const pods = peer === undefined || peer.ipBlock !== undefined ? undefined : peers.podsOf(peer, namespace);
  const side = sideOf(peer, pods, family);
  if (side === undefined) return [];
  if (ports.length === 0) return [side];
  const ranges = resolved(ports, direction === "ingress" ? pod : undefined);
  const allows = ranges.length === 0 ? [] : [{ ...side, ports: ranges }];
  if (direction === "ingress" || peer?.ipBlock !== undefined) return allows;
  // A named port of the other side may be another number in each of its pods.
  return [...allows, ...ports.filter(({ port }) => typeof port === "string").flatMap((port) => namedPortAllows(port, pods ?? peers.all(), family))];
}

/** Undefined: a block of another family. */
function sideOf(peer: DeepReadonly<NetworkPolicyPeer> | undefined, pods: readonly PodView[] | undefined, family: IpFamily): Allow | undefined {
  if (peer?.ipBlock !== undefined) {
    const { cidr, except = [] } = peer.ipBlock;
    return ipFamilyOf(cidr.split("/")[0]!) === family ? { peers: { cidr, except } } : undefined;
  }
  return pods === undefined ? {} : { peers: { addresses: addressesOf(pods, family) } };
}

function namedPortAllows(port: DeepReadonly<NetworkPolicyPort>, pods: readonly PodView[], family: IpFamily): Allow[] {
  const byRange = Map.groupBy(
    pods.flatMap((pod) => resolved([port], pod).map((range) => ({ pod, range }))),
    ({ range }) => `${range.protocol} ${range.first}`,
  );
  return [...byRange.values()].map((entries) => ({
    peers: {
      addresses: addressesOf(
        entries.map(({ pod }) => pod),
        family,
      ),
    },
    ports: [entries[0]!.range],
  }));
}

/** Names are looked up in the receiving pod; one that it does not have allows nothing. */
function resolved(ports: readonly DeepReadonly<NetworkPolicyPort>[], receiver: PodView | undefined): PortRange[] {
  return ports.flatMap(({ protocol = "TCP", port, endPort }): PortRange[] => {
    if (port === undefined) return [{ protocol }];
    if (typeof port === "number") return [{ protocol, first: port, last: endPort ?? port }];
    return (receiver?.ports ?? [])
      .filter((own) => own.name === port && own.protocol === protocol)
      .map((own) => ({ protocol, first: own.port, last: own.port }));
  });
}

function addressesOf(pods: readonly PodView[], family: IpFamily): string[] {
  return pods.flatMap(({ addresses }) => addresses.filter((address) => ipFamilyOf(address) === family)).sort();
}

/** Which pods a peer means, each answer found once. */
class PeerIndex {
  readonly #snapshot: PolicySnapshot;
  readonly #found = new Map<string, readonly PodView[]>();

  constructor(snapshot: PolicySnapshot) {
    this.#snapshot = snapshot;
  }

  all(): readonly PodView[] {
    return this.#snapshot.pods;
  }

  podsOf({ podSelector, namespaceSelector }: DeepReadonly<NetworkPolicyPeer>, ownNamespace: string): readonly PodView[] {
    const key = JSON.stringify([podSelector, namespaceSelector, namespaceSelector === undefined ? ownNamespace : ""]);
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const pods = selectorFromObject(podSelector ?? {});
    const namespaces = namespaceSelector === undefined ? undefined : selectorFromObject(namespaceSelector);
    const isIn = (namespace: string) =>
      namespaces === undefined ? namespace === ownNamespace : matchesLabels(namespaces, this.#snapshot.namespaces.get(namespace));
    const found = this.#snapshot.pods.filter(({ namespace, labels }) => isIn(namespace) && matchesLabels(pods, labels));
    this.#found.set(key, found);
    return found;
  }
}
