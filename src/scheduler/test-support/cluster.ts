import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { Client } from "../../client/index.ts";
import { buildProfiles } from "../config/build-profiles.ts";
import { builtInPlugins } from "../config/plugin-registry.ts";
import { refuse } from "../framework/find-feasible-nodes.ts";
import { isRefusal } from "../framework/refusal.ts";
import { schedulePod } from "../framework/schedule-pod.ts";
import { scoreNodes } from "../framework/score-nodes.ts";
import { PreemptionGate } from "../plugins/preemption/preemption-gate.ts";
import { VolumeWorld } from "../plugins/volumes/volume-binding/volume-world.ts";
import { ClusterState } from "../state/cluster-state.ts";
import { emptyObjects } from "./empty-objects.ts";
import { podInfoOf } from "../state/pod-info.ts";
import type { Lister } from "../../client/index.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Node, NodeStatus, Pod, PodSpec, Taint } from "../../api/core-v1/types.ts";
import type { SchedulerConfiguration } from "../config/configuration.ts";
import type { PluginServices } from "../config/plugin-registry.ts";
import type { Decision } from "../framework/decision.ts";
import type { Cycle, Plugin } from "../framework/plugin.ts";
import type { Profile } from "../framework/profile.ts";
import type { ClusterObjects } from "../state/snapshot.ts";

/** Builders for tests of decisions: nodes, pods, a cluster of them, and what a plugin says of it. */
export function nodeOf(name: string, given: NodeOptions = {}): Node {
  const { labels, taints, unschedulable, ...status } = given;
  return {
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels } },
    spec: { ...(taints !== undefined && { taints }), ...(unschedulable !== undefined && { unschedulable }) },
    status: { allocatable: { cpu: "4", memory: "8Gi", pods: "110" }, ...status },
  };
}

export interface NodeOptions extends Partial<NodeStatus> {
  readonly labels?: Record<string, string>;
  readonly taints?: Taint[];
  readonly unschedulable?: boolean;
}

export function podOf(name: string, spec: Partial<PodSpec> & { requests?: Record<string, string> } = {}, metadata: Partial<Pod["metadata"]> = {}): Pod {
  const { requests, ...rest } = spec;
  const containers = [{ name: "c", image: "img", ...(requests !== undefined && { resources: { requests } }) }];
  return { metadata: { name, namespace: "default", uid: `uid-${name}`, ...metadata }, spec: { schedulerName: "default-scheduler", containers, ...rest } };
}

/** Nodes, with the pods that run on each, and other objects. */
export function clusterOf(nodes: readonly (Node | readonly [Node, ...Pod[]])[], objects: Partial<ClusterObjects> = {}): ClusterState {
  const state = new ClusterState(emptyObjects(objects));
  for (const one of nodes) {
    const [node, ...pods] = Array.isArray(one) ? (one as [Node, ...Pod[]]) : [one as Node];
    state.putNode(node);
    for (const pod of pods) state.putPod(podInfoOf(pod), node.metadata.name!);
  }
  return state;
}

export function listerOf<T extends KubeObject>(...objects: T[]): Lister<T> {
  const list = (namespace = "") => objects.filter((one) => namespace === "" || one.metadata.namespace === namespace) as never;
  return {
    list,
    byIndex: () => [],
    get: (namespace, name) => objects.find((one) => (one.metadata.namespace ?? "") === namespace && one.metadata.name === name) as never,
  };
}

export function servicesOf(state: ClusterState): PluginServices {
  const clock = new VirtualClock();
  const client = new Client({ transport: () => Promise.reject(new Error("nothing is sent")), clock, userAgent: "test" });
  return {
    client,
    clock,
    random: seededRandom(1),
    objects: state.objects,
    volumes: new VolumeWorld(state.objects),
    preemptions: new PreemptionGate(),
    record: () => undefined,
  };
}

export function profileOf(state: ClusterState, configuration: SchedulerConfiguration = {}): Profile {
  return buildProfiles(configuration, builtInPlugins, servicesOf(state)).get("default-scheduler")!;
}

/** What the default scheduler decides. */
export function decide(state: ClusterState, pod: Pod): Decision {
  const request = { snapshot: state, pod: podInfoOf(pod), profile: profileOf(state), random: seededRandom(1), startIndex: 0 };
  return schedulePod(request).decision;
}

/** By node: `fits`, or what the plugin has against it. A refusal of all nodes is under `*`. */
export function verdicts(name: string, state: ClusterState, pod: Pod, configuration: SchedulerConfiguration = {}): Record<string, string> {
  const plugin = pluginOf(name, state, configuration);
  const filter = plugin.preFilter!(cycleOf(state, pod));
  if (filter !== "skip" && isRefusal(filter)) return { "*": `${filter.code}: ${filter.reasons.join(", ")}` };
  return Object.fromEntries(
    state.nodes.map((node) => {
      if (filter !== "skip" && filter.nodeNames?.has(node.name) === false) return [node.name, "excluded"];
      const refusal = filter === "skip" ? undefined : refuse(node, [{ plugin: name, filter }]);
      return [node.name, refusal === undefined ? "fits" : `${refusal.code}: ${refusal.reasons.join(", ")}`];
    }),
  );
}

/** By node: the plugin's score, normalized and weighted. Undefined when it has nothing to say. */
export function scoresOf(name: string, state: ClusterState, pod: Pod, configuration: SchedulerConfiguration = {}): Record<string, number> | undefined {
  const cycle = cycleOf(state, pod);
  const profile = { ...profileOf(state, configuration), plugins: [pluginOf(name, state, configuration)] };
  // Some scores come from what was found while filtering.
  const filter = profile.plugins[0]!.preFilter?.(cycle);
  if (filter !== undefined && filter !== "skip" && !isRefusal(filter)) for (const node of state.nodes) filter.refuse(node);
  const { values } = scoreNodes({ cycle, profile, nodes: state.nodes, positions: undefined, verdicts: undefined });
  return values[0] && Object.fromEntries(state.nodes.map((node, index) => [node.name, values[0]![index]!]));
}

export function pluginOf(name: string, state: ClusterState, configuration: SchedulerConfiguration = {}): Plugin {
  return profileOf(state, configuration).plugins.find((plugin) => plugin.name === name)!;
}

function cycleOf(state: ClusterState, pod: Pod): Cycle {
  return { pod: podInfoOf(pod), snapshot: state, state: new Map() };
}
