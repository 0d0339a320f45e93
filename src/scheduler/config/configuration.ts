import type { ExtenderConfiguration } from "../extenders/configuration.ts";
import type { DynamicResourcesArgs } from "../plugins/devices/dynamic-resources.ts";
import type { DefaultPreemptionArgs } from "../plugins/preemption/default-preemption.ts";
import type { AffinityWeights } from "../plugins/pods/inter-pod-affinity/score.ts";
import type { NodeAffinityArgs } from "../plugins/nodes/node-affinity.ts";
import type { BalancedAllocationArgs } from "../plugins/resources/node-resources-balanced-allocation.ts";
import type { NodeResourcesFitArgs } from "../plugins/resources/node-resources-fit.ts";
import type { PodTopologySpreadArgs } from "../plugins/pods/pod-topology-spread.ts";
import type { VolumeBindingArgs } from "../plugins/volumes/volume-binding.ts";

/** kubescheduler.config.k8s.io/v1 KubeSchedulerConfiguration, the parts that scheduling reads. What is absent has its default. */
export interface SchedulerConfiguration {
  readonly profiles?: readonly ProfileConfiguration[];
  /** 0: fewer, the larger the cluster is. */
  readonly percentageOfNodesToScore?: number;
  readonly podInitialBackoffSeconds?: number;
  readonly podMaxBackoffSeconds?: number;
  readonly extenders?: readonly ExtenderConfiguration[];
  /** Durations as Go writes them (`15s`). */
  readonly leaderElection?: {
    readonly leaderElect?: boolean;
    readonly leaseDuration?: string;
    readonly renewDeadline?: string;
    readonly retryPeriod?: string;
    readonly resourceName?: string;
    readonly resourceNamespace?: string;
  };
}

/** How pods with one `schedulerName` are scheduled. */
export interface ProfileConfiguration {
  readonly schedulerName?: string;
  readonly percentageOfNodesToScore?: number;
  readonly plugins?: Readonly<Partial<Record<ExtensionPoint, PluginSet>>>;
  readonly pluginConfig?: readonly { readonly name: string; readonly args: unknown }[];
}

export type ExtensionPoint =
  | "multiPoint"
  | "preEnqueue"
  | "queueSort"
  | "preFilter"
  | "filter"
  | "postFilter"
  | "preScore"
  | "score"
  | "reserve"
  | "permit"
  | "preBind"
  | "bind"
  | "postBind"
  | "placementGenerate"
  | "placementScore"
  | "podGroupPostFilter";

/** The plugins of an extension point that are turned on and off, beside those that are on by default. */
export interface PluginSet {
  readonly enabled?: readonly { readonly name: string; readonly weight?: number }[];
  /** `*` disables all. */
  readonly disabled?: readonly { readonly name: string }[];
}

export const defaultSchedulerName = "default-scheduler";

/** The plugins of a profile that says nothing else, in order, with the weights of those that score. */
export const defaultPlugins: readonly { readonly name: string; readonly weight?: number }[] = [
  { name: "SchedulingGates" },
  { name: "PrioritySort" },
  { name: "NodeName" },
  { name: "NodeUnschedulable" },
  { name: "TaintToleration", weight: 3 },
  { name: "NodeAffinity", weight: 2 },
  { name: "NodePorts" },
  { name: "NodeResourcesFit", weight: 1 },
  { name: "VolumeRestrictions" },
  { name: "NodeVolumeLimits" },
  { name: "VolumeBinding" },
  { name: "VolumeZone" },
  { name: "PodTopologySpread", weight: 2 },
  { name: "InterPodAffinity", weight: 2 },
  { name: "DynamicResources", weight: 2 },
  { name: "DefaultPreemption" },
  { name: "NodeResourcesBalancedAllocation", weight: 1 },
  { name: "ImageLocality", weight: 1 },
  { name: "DefaultBinder" },
  { name: "NodeDeclaredFeatures" },
];

const cpuAndMemory = [
  { name: "cpu", weight: 1 },
  { name: "memory", weight: 1 },
];

/** The arguments of the plugins that take any; `pluginConfig` replaces single members. */
export const defaultArgs: PluginArgs = {
  DefaultPreemption: { minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 100 },
  DynamicResources: { bindingTimeout: "10m0s", filterTimeout: "10s" },
  InterPodAffinity: { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: false },
  NodeAffinity: {},
  NodeResourcesBalancedAllocation: { resources: cpuAndMemory },
  NodeResourcesFit: { scoringStrategy: { type: "LeastAllocated", resources: cpuAndMemory } },
  PodTopologySpread: { defaultingType: "System" },
  VolumeBinding: {
    bindTimeoutSeconds: 600,
    shape: [
      { utilization: 0, score: 10 },
      { utilization: 100, score: 0 },
    ],
  },
};

export interface PluginArgs {
  readonly DefaultPreemption: DefaultPreemptionArgs;
  readonly DynamicResources: DynamicResourcesArgs;
  readonly InterPodAffinity: AffinityWeights;
  readonly NodeAffinity: NodeAffinityArgs;
  readonly NodeResourcesBalancedAllocation: BalancedAllocationArgs;
  readonly NodeResourcesFit: NodeResourcesFitArgs;
  readonly PodTopologySpread: PodTopologySpreadArgs;
  readonly VolumeBinding: VolumeBindingArgs;
}
