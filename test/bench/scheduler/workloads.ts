/** The published scheduler benchmark's workloads: how many nodes, pods before, pods measured, of which kind, and the threshold in pods/s. */
import type { PodSpec } from "../../../src/api/core-v1/types.ts";

export interface Workload {
  readonly name: string;
  readonly nodes: number;
  readonly before: Batch;
  readonly measured: Batch;
  /** Pods per second; undefined where none is published. */
  readonly threshold: number | undefined;
  /** What comes meanwhile, or comes and goes. */
  readonly churn?: Churn;
  /** Pods that are bound before, and leave meanwhile. */
  readonly leaving?: Leaving;
  /** Nodes have room for fewer pods, or none. */
  readonly node?: { readonly cpu?: string; readonly taintedShare?: number };
}

/** Pods made from one template. */
export interface Batch {
  readonly count: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Partial<PodSpec>;
  readonly requests?: Readonly<Record<string, string>>;
  /** `scheduled` pods are waited for; `pending` ones are only there. */
  readonly until?: "scheduled" | "pending";
  /** How many namespaces the pods are spread over; they carry the label `team: devops`. */
  readonly namespaces?: number;
  /** Each pod is tied to a node by its name, as DaemonSets do. */
  readonly isOnePerNode?: boolean;
  /** Each pod has a claim that is bound to a CSI volume of its own. */
  readonly hasVolume?: boolean;
}

/** A pod every so often; `isReplaced`: with a node and a Service, and all go again before the next ones come. */
export interface Churn {
  readonly everyMs: number;
  readonly pod: Batch;
  readonly isReplaced: boolean;
}

export interface Leaving extends Batch {
  readonly perSecond: number;
}

const zone = "topology.kubernetes.io/zone";
const host = "kubernetes.io/hostname";
const term = (labels: Record<string, string>, topologyKey: string, isByNamespace = false) => ({
  topologyKey,
  labelSelector: { matchLabels: labels },
  ...(isByNamespace && { namespaceSelector: { matchLabels: { team: "devops" } } }),
});
const required = (...parameters: Parameters<typeof term>) => ({ requiredDuringSchedulingIgnoredDuringExecution: [term(...parameters)] });
const preferred = (...parameters: Parameters<typeof term>) => ({
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term(...parameters) }],
});
const spread = (whenUnsatisfiable: string, labels: Record<string, string>) => ({
  topologySpreadConstraints: [{ maxSkew: 5, topologyKey: zone, whenUnsatisfiable, labelSelector: { matchLabels: labels } }],
});
const green = { color: "green" };
const blue = { color: "blue" };
const red = { color: "red" };
const yellow = { color: "yellow" };
const plain = (count: number): Batch => ({ count });
const affine = (count: number, labels: Record<string, string>, affinity: NonNullable<PodSpec["affinity"]>, namespaces?: number): Batch => ({
  count,
  labels,
  spec: { affinity },
  ...(namespaces !== undefined && { namespaces }),
});
const low: Batch["requests"] = { cpu: "900m", memory: "500Mi" };
/** Pushes out three of the four pods of low priority on a node. */
const preemptor: Batch = { count: 1, requests: { cpu: "3000m", memory: "500Mi" }, spec: { priorityClassName: "high" } };
const tooLarge: Batch = { count: 1, requests: { cpu: "9", memory: "500Mi" }, spec: { priorityClassName: "high" } };
const light: Batch = { count: 20_000, requests: { cpu: "1m", memory: "1Mi" } };

export const workloads: readonly Workload[] = [
  { name: "SchedulingBasic", nodes: 5_000, before: plain(1_000), measured: plain(10_000), threshold: 680 },
  { name: "SchedulingDaemonset", nodes: 15_000, before: plain(0), measured: { count: 30_000, isOnePerNode: true }, threshold: 1_100 },
  {
    name: "PreemptionAsync",
    nodes: 5_000,
    before: { count: 20_000, requests: low, spec: { priority: 0, terminationGracePeriodSeconds: 0 } },
    measured: plain(5_000),
    threshold: 570,
    churn: { everyMs: 200, pod: preemptor, isReplaced: false },
  },
  {
    name: "Unschedulable",
    nodes: 5_000,
    before: { ...tooLarge, count: 20_000, until: "pending" },
    measured: plain(10_000),
    threshold: 600,
    churn: { everyMs: 200, pod: tooLarge, isReplaced: false },
  },
  {
    name: "UnschedulableComing",
    nodes: 5_000,
    before: plain(20_000),
    measured: plain(10_000),
    threshold: 600,
    churn: { everyMs: 200, pod: tooLarge, isReplaced: false },
  },
  {
    name: "SchedulingWithMixedChurn",
    nodes: 5_000,
    before: plain(0),
    measured: plain(10_000),
    threshold: 710,
    churn: { everyMs: 1000, pod: tooLarge, isReplaced: true },
  },
  {
    name: "SchedulingWhileGated",
    nodes: 1,
    before: { count: 10_000, spec: { schedulingGates: [{ name: "bench" }] }, until: "pending" },
    leaving: { ...light, perSecond: 50 },
    measured: light,
    threshold: 910,
    node: { cpu: "100" },
  },
  {
    name: "SchedulingPodAntiAffinity",
    nodes: 5_000,
    before: affine(1_000, green, { podAntiAffinity: required(green, host) }),
    measured: affine(2_000, green, { podAntiAffinity: required(green, host) }),
    threshold: 60,
  },
  {
    name: "SchedulingPodMatchingAntiAffinity",
    nodes: 5_000,
    before: affine(1_000, green, { podAntiAffinity: required(green, host) }),
    measured: { count: 5_000, labels: blue },
    threshold: 595,
  },
  {
    name: "SchedulingPodAffinity",
    nodes: 5_000,
    before: affine(5_000, blue, { podAffinity: required(blue, zone) }),
    measured: affine(5_000, blue, { podAffinity: required(blue, zone) }),
    threshold: 35,
  },
  {
    name: "SchedulingPreferredPodAffinity",
    nodes: 5_000,
    before: affine(5_000, red, { podAffinity: preferred(red, host) }),
    measured: affine(5_000, red, { podAffinity: preferred(red, host) }),
    threshold: 90,
  },
  {
    name: "SchedulingPreferredPodAntiAffinity",
    nodes: 5_000,
    before: affine(5_000, yellow, { podAntiAffinity: preferred(yellow, host) }),
    measured: affine(5_000, yellow, { podAntiAffinity: preferred(yellow, host) }),
    threshold: 90,
  },
  {
    name: "SchedulingNodeAffinity",
    nodes: 5_000,
    before: plain(5_000),
    measured: {
      count: 10_000,
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: "In", values: ["zone-0", "zone-1"] }] }],
            },
          },
        },
      },
    },
    threshold: 220,
  },
  {
    name: "MixedSchedulingBasePod",
    nodes: 5_000,
    before: affine(10_000, blue, { podAffinity: preferred(red, host), podAntiAffinity: preferred(yellow, host) }),
    measured: plain(5_000),
    threshold: 140,
  },
  {
    name: "RequiredPodAntiAffinityWithNSSelector",
    nodes: 6_000,
    before: affine(4_000, green, { podAntiAffinity: required(green, host, true) }, 100),
    measured: affine(2_000, green, { podAntiAffinity: required(green, host, true) }, 100),
    threshold: 24,
  },
  {
    name: "RequiredPodAffinityWithNSSelector",
    nodes: 5_000,
    before: affine(5_000, blue, { podAffinity: required(blue, zone, true) }, 50),
    measured: affine(2_000, blue, { podAffinity: required(blue, zone, true) }, 50),
    threshold: 35,
  },
  {
    name: "PreferredAffinityWithNSSelector",
    nodes: 5_000,
    before: affine(5_000, red, { podAffinity: preferred(red, host, true) }, 50),
    measured: affine(5_000, red, { podAffinity: preferred(red, host, true) }, 50),
    threshold: 90,
  },
  {
    name: "PreferredAntiAffinityWithNSSelector",
    nodes: 5_000,
    before: affine(5_000, yellow, { podAntiAffinity: preferred(yellow, host, true) }, 50),
    measured: affine(2_000, yellow, { podAntiAffinity: preferred(yellow, host, true) }, 50),
    threshold: 55,
  },
  {
    name: "TopologySpreading",
    nodes: 5_000,
    before: plain(5_000),
    measured: { count: 5_000, labels: blue, spec: spread("DoNotSchedule", blue) },
    threshold: 460,
  },
  {
    name: "PreferredTopologySpreading",
    nodes: 5_000,
    before: plain(5_000),
    measured: { count: 5_000, labels: blue, spec: spread("ScheduleAnyway", blue) },
    threshold: 340,
  },
  { name: "DefaultTopologySpreading", nodes: 5_000, before: plain(5_000), measured: { count: 50_000, labels: { app: "service" } }, threshold: 160 },
  {
    name: "NodeInclusionPolicy",
    nodes: 5_000,
    before: plain(0),
    measured: { count: 4_000, labels: { foo: "bar" }, spec: spread("DoNotSchedule", { foo: "bar" }) },
    threshold: 270,
    node: { taintedShare: 0.2 },
  },
  {
    name: "SchedulingSecrets",
    nodes: 5_000,
    before: { count: 1_000, spec: { volumes: [{ name: "secret", secret: { secretName: "secret" } }] } },
    measured: { count: 10_000, spec: { volumes: [{ name: "secret", secret: { secretName: "secret" } }] } },
    threshold: 790,
  },
  {
    name: "SchedulingCSIPVs",
    nodes: 5_000,
    before: { count: 5_000, hasVolume: true },
    measured: { count: 5_000, hasVolume: true },
    threshold: 100,
  },
  {
    name: "PreemptionBasic",
    nodes: 5_000,
    before: { count: 20_000, requests: low, spec: { priority: 0, terminationGracePeriodSeconds: 0 } },
    measured: { ...preemptor, count: 1_000 },
    threshold: undefined,
  },
];
