import { addResources, amountIn, noResources, resourcesFrom, subtractResources } from "./resources.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, Taint } from "../../api/core-v1/types.ts";
import type { HostPort, PodInfo } from "./pod-info.ts";
import type { Resources } from "./resources.ts";

/**
 * A node with the pods that run on it, or are on their way there, and the sums that decisions ask for. Immutable: a change makes a new one,
 * so that a dry run can take pods away without anybody noticing.
 */
export class NodeInfo {
  readonly name: string;
  readonly node: DeepReadonly<Node>;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly DeepReadonly<Taint>[];
  readonly isUnschedulable: boolean;
  readonly allocatable: Resources;
  readonly allowedPods: number;
  /** Sizes in bytes by image name. */
  readonly images: ReadonlyMap<string, number>;
  readonly pods: readonly PodInfo[];
  readonly requested: Resources;
  readonly scoredMilliCpu: number;
  readonly scoredMemoryBytes: number;
  readonly hostPorts: readonly HostPort[];

  private constructor(facts: NodeFacts, load: PodLoad) {
    this.name = facts.name;
    this.node = facts.node;
    this.labels = facts.labels;
    this.taints = facts.taints;
    this.isUnschedulable = facts.isUnschedulable;
    this.allocatable = facts.allocatable;
    this.allowedPods = facts.allowedPods;
    this.images = facts.images;
    this.pods = load.pods;
    this.requested = load.requested;
    this.scoredMilliCpu = load.scoredMilliCpu;
    this.scoredMemoryBytes = load.scoredMemoryBytes;
    this.hostPorts = load.hostPorts;
  }

  static of(node: DeepReadonly<Node>, pods: readonly PodInfo[] = []): NodeInfo {
    let info = new NodeInfo(factsOf(node), noLoad);
    for (const pod of pods) info = info.withPod(pod);
    return info;
  }

  /** The same pods on a newer state of the node. */
  withNode(node: DeepReadonly<Node>): NodeInfo {
    return new NodeInfo(factsOf(node), this);
  }

  withPod(pod: PodInfo): NodeInfo {
    return new NodeInfo(this, {
      pods: [...this.pods, pod],
      requested: addResources(this.requested, pod.requests),
      scoredMilliCpu: this.scoredMilliCpu + pod.scored.milliCpu,
      scoredMemoryBytes: this.scoredMemoryBytes + pod.scored.memoryBytes,
      hostPorts: pod.hostPorts.length === 0 ? this.hostPorts : [...this.hostPorts, ...pod.hostPorts],
    });
  }

  /** Without the pod of that uid; the same node info when it is not there. */
  withoutPod(uid: string): NodeInfo {
    const index = this.pods.findIndex((one) => one.uid === uid);
    if (index < 0) return this;
    const pod = this.pods[index]!;
    const pods = this.pods.toSpliced(index, 1);
    return new NodeInfo(this, {
      pods,
      requested: subtractResources(this.requested, pod.requests),
      scoredMilliCpu: this.scoredMilliCpu - pod.scored.milliCpu,
      scoredMemoryBytes: this.scoredMemoryBytes - pod.scored.memoryBytes,
      hostPorts: pod.hostPorts.length === 0 ? this.hostPorts : pods.flatMap((one) => one.hostPorts),
    });
  }
}

type NodeFacts = Pick<NodeInfo, "name" | "node" | "labels" | "taints" | "isUnschedulable" | "allocatable" | "allowedPods" | "images">;
type PodLoad = Pick<NodeInfo, "pods" | "requested" | "scoredMilliCpu" | "scoredMemoryBytes" | "hostPorts">;

const noLoad: PodLoad = {
  pods: [],
  requested: noResources,
  scoredMilliCpu: 0,
  scoredMemoryBytes: 0,
  hostPorts: [],
};

function factsOf(node: DeepReadonly<Node>): NodeFacts {
  const images = new Map<string, number>();
  for (const { names, sizeBytes } of node.status?.images ?? []) for (const name of names ?? []) images.set(name, sizeBytes ?? 0);
  return {
    name: node.metadata.name ?? "",
    node,
    labels: node.metadata.labels ?? {},
    taints: node.spec?.taints ?? [],
    isUnschedulable: node.spec?.unschedulable === true,
    allocatable: resourcesFrom(node.status?.allocatable),
    allowedPods: amountIn(node.status?.allocatable, "pods"),
    images,
  };
}
