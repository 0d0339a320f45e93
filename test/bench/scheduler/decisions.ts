/**
 * Pure scheduling decisions: plain pods on a large cluster, each decided and assumed before the next one, as the scheduler does; then the same
 * with pods that spread, and pods with affinity.
 */
import { systemClock } from "../../../src/base/clock.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { Client } from "../../../src/client/index.ts";
import { buildProfiles } from "../../../src/scheduler/config/build-profiles.ts";
import { builtInPlugins } from "../../../src/scheduler/config/plugin-registry.ts";
import { schedulePod } from "../../../src/scheduler/framework/schedule-pod.ts";
import { VerdictCache } from "../../../src/scheduler/framework/verdict-cache.ts";
import { PreemptionGate } from "../../../src/scheduler/plugins/preemption/preemption-gate.ts";
import { VolumeWorld } from "../../../src/scheduler/plugins/volumes/volume-binding/volume-world.ts";
import { ClusterState } from "../../../src/scheduler/state/cluster-state.ts";
import { emptyObjects } from "../../../src/scheduler/test-support/empty-objects.ts";
import { podInfoOf } from "../../../src/scheduler/state/pod-info.ts";
import type { Pod, PodSpec } from "../../../src/api/core-v1/types.ts";

const nodes = 5_000;
const pods = 10_000;
const budgetPerSecond = 10_000;
const clock = systemClock();
const web = { matchLabels: { app: "web" } };

interface Workload {
  readonly name: string;
  readonly pods: number;
  readonly before: number;
  readonly spec: Partial<PodSpec>;
}
const workloads: readonly Workload[] = [
  { name: "plain", pods, before: 1_000, spec: {} },
  { name: "node affinity", pods: pods / 2, before: 1_000, spec: { nodeSelector: { "topology.kubernetes.io/zone": "zone-1" } } },
  {
    name: "topology spreading",
    pods: pods / 10,
    before: 1_000,
    spec: { topologySpreadConstraints: [{ maxSkew: 5, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: web }] },
  },
  {
    name: "preferred pod affinity",
    pods: pods / 20,
    before: 1_000,
    spec: {
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: "kubernetes.io/hostname", labelSelector: web } }],
        },
      },
    },
  },
  {
    name: "pod anti-affinity",
    pods: pods / 20,
    before: 1_000,
    spec: {
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname", labelSelector: web }] } },
    },
  },
];

/** Prints the rates; answers whether plain pods are within the budget. */
export function measureDecisions(): boolean {
  const rows = workloads.map((workload) => {
    const { seconds, unscheduled } = measure(workload);
    return { workload: workload.name, nodes, before: workload.before, pods: workload.pods, unscheduled, perSecond: Math.round(workload.pods / seconds) };
  });
  console.table(rows);
  console.log(JSON.stringify(rows));
  return rows[0]!.perSecond >= budgetPerSecond;
}

function measure({ pods: count, before, spec }: Workload): { seconds: number; unscheduled: number } {
  const objects = emptyObjects();
  const state = new ClusterState(objects);
  const random = seededRandom(1);
  const client = new Client({ transport: () => Promise.reject(new Error("nothing is sent")), clock, userAgent: "bench" });
  const services = { client, clock, random, objects, volumes: new VolumeWorld(objects), preemptions: new PreemptionGate(), record: () => undefined };
  const profile = buildProfiles({}, builtInPlugins, services).get("default-scheduler")!;
  for (let index = 0; index < nodes; index++) state.putNode(nodeOf(index));
  const cache = new VerdictCache();
  let startIndex = 0;
  let unscheduled = 0;
  const schedule = (pod: Pod) => {
    const { decision } = schedulePod({ snapshot: state, pod: podInfoOf(pod), profile, random, startIndex, cache });
    startIndex = (startIndex + decision.examined) % nodes;
    if (decision.kind === "assigned") state.assume(decision.pod, decision.node.name);
    else unscheduled += 1;
  };
  for (let index = 0; index < before; index++) schedule(podOf(`before-${index}`, {}, {}));
  const measured = Array.from({ length: count }, (_, index) => podOf(`pod-${index}`, spec, { app: "web" }));
  const startedMs = clock.monotonicMs();
  for (const pod of measured) schedule(pod);
  return { seconds: (clock.monotonicMs() - startedMs) / 1000, unscheduled };
}

function nodeOf(index: number) {
  const name = `node-${index}`;
  const labels = { "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": `zone-${index % 3}` };
  return { metadata: { name, labels }, status: { allocatable: { cpu: "4", memory: "32Gi", pods: "110" } } };
}

function podOf(name: string, spec: Partial<PodSpec>, labels: Record<string, string>): Pod {
  const containers = [{ name: "pause", image: "registry.k8s.io/pause:3.10", resources: { requests: { cpu: "100m", memory: "500Mi" } } }];
  return { metadata: { name, namespace: "bench", uid: name, labels }, spec: { schedulerName: "default-scheduler", containers, ...spec } };
}
