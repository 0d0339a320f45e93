import { defaultBinder } from "../plugins/default-binder.ts";
import { defaultPreemption } from "../plugins/preemption/default-preemption.ts";
import { dynamicResources } from "../plugins/devices/dynamic-resources.ts";
import { ConfigurationError } from "./configuration-error.ts";
import { gangScheduling } from "../plugins/queue/gang-scheduling.ts";
import { imageLocality } from "../plugins/nodes/image-locality.ts";
import { interPodAffinity } from "../plugins/pods/inter-pod-affinity.ts";
import { nodeAffinity } from "../plugins/nodes/node-affinity.ts";
import { nodeDeclaredFeatures } from "../plugins/nodes/node-declared-features.ts";
import { nodeName } from "../plugins/nodes/node-name.ts";
import { nodePorts } from "../plugins/nodes/node-ports.ts";
import { nodeResourcesBalancedAllocation } from "../plugins/resources/node-resources-balanced-allocation.ts";
import { nodeResourcesFit } from "../plugins/resources/node-resources-fit.ts";
import { nodeUnschedulable } from "../plugins/nodes/node-unschedulable.ts";
import { nodeVolumeLimits } from "../plugins/volumes/node-volume-limits.ts";
import { podTopologySpread } from "../plugins/pods/pod-topology-spread.ts";
import { prioritySort } from "../plugins/queue/priority-sort.ts";
import { schedulingGates } from "../plugins/queue/scheduling-gates.ts";
import { podGroupPodsCount, topologyPlacement } from "../plugins/queue/topology-placement.ts";
import { taintToleration } from "../plugins/nodes/taint-toleration.ts";
import { volumeBinding } from "../plugins/volumes/volume-binding.ts";
import { volumeRestrictions } from "../plugins/volumes/volume-restrictions.ts";
import { volumeZone } from "../plugins/volumes/volume-zone.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../../client/index.ts";
import type { Plugin } from "../framework/plugin.ts";
import type { RecordEvent } from "../framework/record-event.ts";
import type { PreemptionGate } from "../plugins/preemption/preemption-gate.ts";
import type { VolumeWorld } from "../plugins/volumes/volume-binding/volume-world.ts";
import type { PodGroups } from "../state/pod-groups.ts";
import type { ClusterObjects } from "../state/snapshot.ts";
import type { PluginArgs } from "./configuration.ts";

/** How each plugin is made. Plugins from outside the tree are added to it. */
export type PluginRegistry = Readonly<Record<string, PluginFactory>>;
/** Makes a plugin for a profile. `args` are all `pluginConfig` of the profile, by plugin name. */
export type PluginFactory = (args: PluginArgs & Readonly<Record<string, unknown>>, services: PluginServices) => Plugin;

/** What plugins may use besides the snapshot. */
export interface PluginServices {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly objects: ClusterObjects;
  readonly volumes: VolumeWorld;
  readonly preemptions: PreemptionGate;
  readonly record: RecordEvent;
  /** Where groups of pods are served (feature gate GenericWorkload). */
  readonly podGroups?: PodGroups | undefined;
}

export const builtInPlugins: PluginRegistry = {
  DefaultBinder: (_args, { client }) => defaultBinder(client),
  DefaultPreemption: (args, { random, preemptions, podGroups }) => defaultPreemption(args.DefaultPreemption, { random, gate: preemptions, groups: podGroups }),
  DynamicResources: (args, services) => dynamicResources(args.DynamicResources, services),
  GangScheduling: (_args, { podGroups }) => {
    if (podGroups === undefined) throw new ConfigurationError("plugin GangScheduling needs feature gate GenericWorkload");
    return gangScheduling(podGroups);
  },
  ImageLocality: () => imageLocality,
  InterPodAffinity: (args) => interPodAffinity(args.InterPodAffinity),
  NodeAffinity: (args) => nodeAffinity(args.NodeAffinity),
  NodeDeclaredFeatures: () => nodeDeclaredFeatures,
  NodeName: () => nodeName,
  NodePorts: () => nodePorts,
  NodeResourcesBalancedAllocation: (args) => nodeResourcesBalancedAllocation(args.NodeResourcesBalancedAllocation),
  NodeResourcesFit: (args, { objects }) => nodeResourcesFit(args.NodeResourcesFit, objects),
  NodeUnschedulable: () => nodeUnschedulable,
  NodeVolumeLimits: (_args, { volumes }) => nodeVolumeLimits(volumes),
  PodGroupPodsCount: () => podGroupPodsCount,
  PodTopologySpread: (args, { objects }) => podTopologySpread(args.PodTopologySpread, objects),
  PrioritySort: () => prioritySort,
  SchedulingGates: () => schedulingGates,
  TaintToleration: () => taintToleration,
  TopologyPlacementGenerator: () => topologyPlacement,
  VolumeBinding: (args, services) => volumeBinding(args.VolumeBinding, services),
  VolumeRestrictions: (_args, { volumes }) => volumeRestrictions(volumes),
  VolumeZone: (_args, { volumes }) => volumeZone(volumes),
};
