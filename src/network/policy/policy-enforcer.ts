/** Enforces NetworkPolicies for the pods of a node. Without any policy it watches nothing else and has no table. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { IpFamily } from "../../apimachinery/net.ts";
import type { Transport } from "../../apimachinery/request.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { EndpointSlice } from "../../api/discovery-v1/types.ts";
import type { PolicyRule } from "../../api/rbac-v1/types.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import { TaskGroup } from "../../base/task-group.ts";
import { Client, InformerSet, resources } from "../../client/index.ts";
import { createNft, NftError } from "../../host/index.ts";
import type { Nft, Programs } from "../../host/index.ts";
import { defineController, watch } from "../../operator/index.ts";
import type { Caches } from "../../operator/index.ts";
import { planPolicies } from "./policy-plan.ts";
import type { PodView, PolicySnapshot } from "./policy-plan.ts";
import { policyTable, tableChange } from "./policy-table.ts";
import type { PolicyTable } from "./policy-table.ts";

export interface PolicyEnforcerOptions {
  readonly transport: Transport;
  readonly programs: Programs;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly nodeName: string;
  readonly instanceId: string;
  readonly families: readonly IpFamily[];
}

/** Runs until `signal` aborts. The table stays, as the pods do. */
export async function runPolicyEnforcer(options: PolicyEnforcerOptions, signal: AbortSignal): Promise<void> {
  const { transport, clock, random, log } = options;
  const client = new Client({ transport, clock, userAgent: "coracle-network-policy", signal });
  const services = { client, clock, random, log, events: { record: () => {} } };
  await using informers = new InformerSet(services);
  const first = Promise.withResolvers<void>();
  const scout = new TaskGroup({ parent: signal });
  scout.start("policies", (inner) =>
    defineController({
      name: "network-policy-scout",
      watches: [watch(resources.networkPolicies, { keys: () => ["any"] })],
      reconcile: async () => first.resolve(),
    }).run({ ...services, informers }, inner),
  );
  signal.addEventListener("abort", () => first.resolve(), { once: true });
  try {
    await first.promise;
  } finally {
    await scout.close();
  }
  if (signal.aborted) return;
  const enforcer = new PolicyEnforcer(options);
  const all = () => ["policies"];
  await defineController({
    name: "network-policy",
    workers: 1,
    watches: [
      watch(resources.networkPolicies, { keys: all }),
      watch(resources.namespaces, {
        keys: all,
        isRelevant: ({ kind, object, old }) => kind !== "update" || !sameLabels(object.metadata.labels, old?.metadata.labels),
      }),
      watch(resources.pods, { keys: all, isRelevant: ({ kind, object, old }) => kind !== "update" || podText(object) !== podText(old!) }),
      watch(resources.endpointSlices, { selection: { namespace: "kube-system" }, keys: all }),
    ],
    reconcile: (_key, { caches }) => enforcer.enforce(snapshotOf(caches, options.nodeName)),
  }).run({ ...services, informers }, signal);
}

/** What it reads, for a ClusterRole. */
export function policyRules(): PolicyRule[] {
  const verbs = ["get", "list", "watch"];
  return [
    { apiGroups: [""], resources: ["pods", "namespaces"], verbs },
    { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs },
    { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs },
  ];
}

export function policyTableName(instanceId: string): string {
  return `coracle-${instanceId}-policy`;
}

/** Removes the tables, whether they are there or not. */
export async function removePolicies(nft: Nft, instanceId: string): Promise<void> {
  for (const family of ["ip", "ip6"])
    await nft.apply(`delete table ${family} ${policyTableName(instanceId)}`).catch((error: unknown) => {
      if (!(error instanceof NftError && error.reason === "NotFound")) throw error;
    });
}

/** Keeps the kernel's tables as the plan wants them. State: what was applied last. */
export class PolicyEnforcer {
  readonly #nft: Nft;
  readonly #options: Pick<PolicyEnforcerOptions, "instanceId" | "families">;
  readonly #applied = new Map<IpFamily, PolicyTable>();

  constructor(options: Pick<PolicyEnforcerOptions, "programs" | "instanceId" | "families">) {
    this.#options = options;
    this.#nft = createNft(options);
  }

  async enforce(snapshot: PolicySnapshot): Promise<void> {
    const { instanceId, families } = this.#options;
    const name = policyTableName(instanceId);
    const rules = planPolicies(snapshot);
    for (const family of families) {
      const table = policyTable(name, family, rules);
      const change = tableChange(name, family, this.#applied.get(family), table);
      if (change === "") continue;
      await this.#nft.apply(change);
      this.#applied.set(family, table);
    }
  }
}

function snapshotOf(caches: Caches, nodeName: string): PolicySnapshot {
  const pods = caches
    .of(resources.pods)
    .list()
    .flatMap((pod) => viewOf(pod, nodeName));
  const dns = caches.of(resources.endpointSlices).list().flatMap(dnsView);
  return {
    pods: [...pods, ...dns],
    namespaces: new Map(
      caches
        .of(resources.namespaces)
        .list()
        .map(({ metadata }) => [metadata.name!, metadata.labels ?? {}]),
    ),
    policies: caches.of(resources.networkPolicies).list(),
  };
}

/** Pods with the node's own network, or none yet, are not subject to policies. */
function viewOf({ metadata, spec, status }: DeepReadonly<Pod>, nodeName: string): PodView[] {
  const addresses = (status?.podIPs ?? []).flatMap(({ ip }): string[] => (ip === undefined ? [] : [ip]));
  if (spec?.hostNetwork === true || addresses.length === 0 || status?.phase === "Succeeded" || status?.phase === "Failed") return [];
  const ports = (spec?.containers ?? [])
    .flatMap((container) => container.ports ?? [])
    .flatMap(({ name, containerPort, protocol = "TCP" }) => (name === undefined ? [] : [{ name, port: containerPort, protocol }]));
  return [{ namespace: metadata.namespace!, labels: metadata.labels ?? {}, addresses, ports, isLocal: spec?.nodeName === nodeName }];
}

/** The cluster's DNS server is no pod, yet policies mean it as one of kube-system: with the label that DNS pods have everywhere. */
function dnsView({ metadata, endpoints = [], ports = [] }: DeepReadonly<EndpointSlice>): PodView[] {
  if (metadata.labels?.["endpointslice.kubernetes.io/managed-by"] !== "dns.coracle") return [];
  const named = ports.flatMap(({ name, port, protocol = "TCP" }) => (name === undefined || port === undefined ? [] : [{ name, port, protocol }]));
  return [
    {
      namespace: "kube-system",
      labels: { "k8s-app": "kube-dns" },
      addresses: endpoints.flatMap(({ addresses }) => addresses ?? []),
      ports: named,
      isLocal: false,
    },
  ];
}

function podText({ metadata, spec, status }: DeepReadonly<Pod>): string {
  return JSON.stringify([metadata.labels, spec?.nodeName, status?.podIPs, status?.phase]);
}

function sameLabels(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
