import { podInfoOf } from "../../state/pod-info.ts";
import { NodeInfo } from "../../state/node-info.ts";
import { resourceAmount } from "../../state/resources.ts";
import { isLeftToDevices, servedResources } from "../devices/extended-resources.ts";
import { resourceScorer, usedShare } from "./resource-scoring.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Node, Pod } from "../../../api/core-v1/types.ts";
import type { Plugin } from "../../framework/plugin.ts";
import type { Refusal } from "../../framework/refusal.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { ClusterObjects } from "../../state/snapshot.ts";
import type { ScoringStrategy } from "./resource-scoring.ts";

/** A node takes no more pods, and no more requests, than it has room for. */
export function nodeResourcesFit(args: NodeResourcesFitArgs, { deviceClasses }: Pick<ClusterObjects, "deviceClasses">): Plugin {
  const isIgnored = ignoring(args);
  const share = sharedRefusals();
  const refuserFor = (pod: PodInfo) => {
    const served = servedResources(pod, deviceClasses);
    return (node: NodeInfo) => refusalOf(pod, node, { share, isIgnored: (name) => isIgnored(name) || (served.has(name) && isLeftToDevices(name, node)) });
  };
  const score = resourceScorer(args.scoringStrategy);
  return {
    name: "NodeResourcesFit",
    events: [
      { resource: "AssignedPod", actions: ["Delete"] },
      { resource: "AssignedPod", actions: ["UpdatePodScaleDown"], helps: (pod, { old, current }) => isLess(pod, old, current) },
      { resource: "TargetPod", actions: ["UpdatePodScaleDown"] },
      { resource: "DeviceClass", actions: ["Add", "Update"], helps: (pod) => servedResources(pod, deviceClasses).size > 0 },
      {
        resource: "Node",
        actions: ["Add", "UpdateNodeAllocatable"],
        helps(pod, { old, current }) {
          const node = NodeInfo.of(current as DeepReadonly<Node>);
          if (refuserFor(pod)(node) !== undefined) return false;
          return old === undefined || hasMore(pod, NodeInfo.of(old as DeepReadonly<Node>), node);
        },
      },
    ],
    // Whether a device class serves an extended resource is not to be seen in pod and node.
    preFilter: ({ pod }) => ({ ...(pod.requests.scalars === undefined && { isLocal: true }), refuse: refuserFor(pod) }),
    placementScore: (_cycle, { nodes }) => usedShare(nodes, args.scoringStrategy),
    preScore: ({ pod }) => ({ isLocal: true, score: (node) => score(pod, node) }),
  };
}

export interface NodeResourcesFitArgs {
  readonly scoringStrategy: ScoringStrategy;
  /** Extended resources that something else looks after. */
  readonly ignoredResources?: readonly string[];
  /** The same, by the part before the slash. */
  readonly ignoredResourceGroups?: readonly string[];
}

function refusalOf(pod: PodInfo, node: NodeInfo, { share, isIgnored }: { share: Share; isIgnored: (name: string) => boolean }): Refusal | undefined {
  let reasons: string[] | undefined;
  let isHopeless = false;
  if (node.pods.length + 1 > node.allowedPods) reasons = ["Too many pods"];
  const { requests } = pod;
  const { allocatable, requested } = node;
  const check = (name: string, wanted: number, total: number, used: number) => {
    if (wanted === 0 || wanted <= total - used) return;
    (reasons ??= []).push(`Insufficient ${name}`);
    isHopeless ||= wanted > total;
  };
  check("cpu", requests.milliCpu, allocatable.milliCpu, requested.milliCpu);
  check("memory", requests.memoryBytes, allocatable.memoryBytes, requested.memoryBytes);
  check("ephemeral-storage", requests.ephemeralStorageBytes, allocatable.ephemeralStorageBytes, requested.ephemeralStorageBytes);
  if (requests.scalars !== undefined)
    for (const [name, wanted] of requests.scalars)
      if (!isIgnored(name)) check(name, wanted, allocatable.scalars?.get(name) ?? 0, requested.scalars?.get(name) ?? 0);
  if (reasons === undefined) return undefined;
  return share(isHopeless ? "unresolvable" : "unschedulable", reasons);
}

type Share = (code: "unresolvable" | "unschedulable", reasons: readonly string[]) => Refusal;

/** Gives the same refusal for the same reasons, since thousands of nodes may have them. */
function sharedRefusals(): Share {
  const known = new Map<string, Refusal>();
  return (code, reasons) => {
    const key = `${code} ${reasons.join("\n")}`;
    let refusal = known.get(key);
    if (refusal === undefined) {
      if (known.size >= knownLimit) known.clear();
      known.set(key, (refusal = { code, reasons }));
    }
    return refusal;
  };
}

const knownLimit = 1_000;

function ignoring({ ignoredResources = [], ignoredResourceGroups = [] }: NodeResourcesFitArgs): (name: string) => boolean {
  if (ignoredResources.length + ignoredResourceGroups.length === 0) return () => false;
  return (name) => ignoredResources.includes(name) || ignoredResourceGroups.includes(name.split("/")[0]!);
}

/** Whether the node has more of anything that the pod asks for. */
function hasMore(pod: PodInfo, old: NodeInfo, current: NodeInfo): boolean {
  if (current.allowedPods > old.allowedPods) return true;
  return requestedNames(pod).some((name) => resourceAmount(current.allocatable, name) > resourceAmount(old.allocatable, name));
}

/** Whether another pod asks for less than before of anything that the pod asks for. */
function isLess(pod: PodInfo, old: unknown, current: unknown): boolean {
  const before = podInfoOf(old as DeepReadonly<Pod>).requests;
  const after = podInfoOf(current as DeepReadonly<Pod>).requests;
  return requestedNames(pod).some((name) => resourceAmount(after, name) < resourceAmount(before, name));
}

function requestedNames({ requests }: PodInfo): readonly string[] {
  const names = ["cpu", "memory", "ephemeral-storage", ...(requests.scalars?.keys() ?? [])];
  return names.filter((name) => resourceAmount(requests, name) > 0);
}
