import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { seededRandom } from "../../base/random.ts";
import { clusterOf, decide, nodeOf, podOf, profileOf } from "../test-support/cluster.ts";
import { podInfoOf } from "../state/pod-info.ts";
import { nodesToFind } from "./find-feasible-nodes.ts";
import { schedulePod } from "./schedule-pod.ts";
import { VerdictCache } from "./verdict-cache.ts";
import type { Random } from "../../base/random.ts";
import type { Node, Pod } from "../../api/core-v1/types.ts";

const taint = { key: "k", effect: "NoSchedule" };
const preemptive = (text: string) => `preemption: ${text}`;
const failures: { name: string; nodes: Parameters<typeof clusterOf>[0]; pod: Pod; message: string; rejectors: string[] }[] = [
  { name: "no nodes", nodes: [], pod: podOf("p"), message: "no nodes available to schedule pods", rejectors: [] },
  {
    name: "reasons are counted and sorted as texts",
    nodes: [nodeOf("a", { taints: [taint] }), nodeOf("b", { taints: [taint] }), [nodeOf("c"), podOf("x", { requests: { cpu: "4" } })]],
    pod: podOf("p", { requests: { cpu: "1" } }),
    message: `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). ${preemptive("0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.")}`,
    rejectors: ["TaintToleration", "NodeResourcesFit"],
  },
  {
    name: "a plugin that refuses all nodes at once",
    nodes: [nodeOf("a"), nodeOf("b")],
    pod: podOf("p", { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] }),
    message: '0/2 nodes are available: persistentvolumeclaim "data" not found. not found',
    rejectors: ["VolumeBinding"],
  },
];
for (const { name, nodes, pod, message, rejectors } of failures)
  test(`decision: ${name}`, () => {
    const decision = decide(clusterOf(nodes), pod);
    equal(decision.kind, "unschedulable");
    deepEqual(decision.kind === "unschedulable" && [decision.message, [...decision.rejectors]], [message, rejectors]);
  });

test("decision: verdicts and scores are kept", () => {
  const decision = decide(
    clusterOf([nodeOf("a"), nodeOf("b", { allocatable: { cpu: "8", memory: "16Gi", pods: "110" } }), nodeOf("c", { unschedulable: true })]),
    podOf("p", { requests: { cpu: "1" } }),
  );
  ok(decision.kind === "assigned");
  equal(decision.node.name, "b");
  deepEqual(decision.refusals.get("c"), { code: "unresolvable", reasons: ["node(s) were unschedulable"], plugin: "NodeUnschedulable" });
  deepEqual(decision.scores.plugins, ["TaintToleration", "NodeResourcesFit", "NodeResourcesBalancedAllocation"]);
  deepEqual(decision.scores.totals.length, 2);
});

test("decision: the nominated node is taken, however poor, if the pod fits", () => {
  const cluster = clusterOf([
    nodeOf("rich", { allocatable: { cpu: "32", memory: "64Gi", pods: "110" } }),
    nodeOf("poor", { allocatable: { cpu: "1", memory: "1Gi", pods: "110" } }),
  ]);
  const nominated = (cpu: string): Pod => ({ ...podOf("p", { requests: { cpu } }), status: { nominatedNodeName: "poor" } });
  const chosen = (pod: Pod) => {
    const decision = decide(cluster, pod);
    return decision.kind === "assigned" ? decision.node.name : decision.message;
  };
  deepEqual([chosen(nominated("500m")), chosen(nominated("2"))], ["poor", "rich"]);
});

test("decision: room that was promised to a more important pod is taken", () => {
  const cluster = clusterOf([nodeOf("a")]);
  cluster.nominate(podInfoOf(podOf("important", { priority: 100, requests: { cpu: "4" } })), "a");
  equal(decide(cluster, podOf("p", { priority: 10, requests: { cpu: "1" } })).kind, "unschedulable");
  equal(decide(cluster, podOf("p", { priority: 1000, requests: { cpu: "1" } })).kind, "assigned");
});

const counts: [nodes: number, percentage: number, expect: number][] = [
  [50, 0, 50],
  [99, 10, 99],
  [1000, 0, 420],
  [5000, 0, 500],
  [6000, 0, 300],
  [1000, 5, 100],
  [1000, 100, 1000],
];
for (const [nodes, percentage, expect] of counts)
  test(`enough nodes of ${nodes} at ${percentage} %: ${expect}`, () => equal(nodesToFind(nodes, percentage), expect));

/** The chosen node is among the best of a naive search over all nodes, with and without what is remembered of earlier pods. */
for (let seed = 1; seed <= 40; seed++)
  test(`decision: random cluster, seed ${seed}`, () => {
    const random = seededRandom(seed);
    const state = clusterOf(Array.from({ length: 2 + random.integer(20) }, (_, index) => randomNode(`n${index}`, random)));
    const profile = profileOf(state);
    const cache = new VerdictCache();
    for (let index = 0; index < 40; index++) {
      const pod = podInfoOf(randomPod(`p${index}`, random));
      const request = { snapshot: state, pod, profile, random, startIndex: random.integer(20), isExhaustive: true };
      const { decision } = schedulePod({ ...request, cache });
      const plain = schedulePod(request).decision;
      equal(decision.kind, plain.kind);
      if (decision.kind !== "assigned" || plain.kind !== "assigned") continue;
      deepEqual(totalsOf(decision), totalsOf(plain));
      const highest = Math.max(...decision.scores.totals);
      if (decision.scores.nodes.length > 0) equal(totalsOf(decision)[decision.node.name], highest);
      state.assume(pod, decision.node.name);
      if (random.integer(10) === 0) state.removePod(pod.uid);
    }
    for (const { requested, allocatable } of state.nodes) ok(requested.milliCpu <= allocatable.milliCpu && requested.memoryBytes <= allocatable.memoryBytes);
  });

function totalsOf(decision: { scores: { nodes: readonly { name: string }[]; totals: readonly number[] } }): Record<string, number> {
  return Object.fromEntries(decision.scores.nodes.map(({ name }, index) => [name, decision.scores.totals[index]!]));
}

const pick = <T>(random: Random, items: readonly T[]): T => items[random.integer(items.length)]!;

function randomNode(name: string, random: Random): Node {
  return nodeOf(name, {
    labels: { "topology.kubernetes.io/zone": pick(random, ["a", "b", "c"]), disk: pick(random, ["ssd", "hdd"]) },
    allocatable: { cpu: String(1 + random.integer(8)), memory: `${1 + random.integer(8)}Gi`, pods: "20" },
    taints: pick(random, [[], [], [taint], [{ key: "soft", effect: "PreferNoSchedule" }]]),
    unschedulable: random.integer(10) === 0,
  });
}

function randomPod(name: string, random: Random): Pod {
  const app = pick(random, ["web", "db"]);
  const labelSelector = { matchLabels: { app } };
  const topologyKey = pick(random, ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
  const affinity = pick(random, [
    {},
    { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 3, podAffinityTerm: { topologyKey, labelSelector } }] } },
    { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname", labelSelector }] } },
  ]);
  const whenUnsatisfiable = pick(random, ["DoNotSchedule", "ScheduleAnyway"]);
  return podOf(
    name,
    {
      requests: { cpu: `${100 * (1 + random.integer(10))}m`, memory: `${128 * (1 + random.integer(8))}Mi` },
      affinity,
      ...pick(random, [{}, {}, { nodeSelector: { disk: "ssd" } }, { tolerations: [{ operator: "Exists" }] }]),
      ...pick(random, [{}, {}, { topologySpreadConstraints: [{ maxSkew: 2, topologyKey, whenUnsatisfiable, labelSelector }] }]),
    },
    { labels: { app } },
  );
}
