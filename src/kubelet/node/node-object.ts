/** The Node object: what is registered, and its status (documentation page "Node status"). Pure. */
import { formatTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ContainerImage, Node, NodeCondition, NodeStatus } from "../../api/core-v1/types.ts";
import type { Image, RuntimeStatus, VersionResponse } from "../runtime/cri-messages.ts";
import type { Machine } from "./machine.ts";

export interface NodeFacts {
  readonly name: string;
  readonly address: string;
  /** Of the kubelet's server. */
  readonly port: number;
  readonly kubeletVersion: string;
  readonly machine: Machine;
  readonly version: VersionResponse;
  readonly labels: Readonly<Record<string, string>>;
  readonly maxPods: number;
}

/** What changes while the node lives. */
export interface NodeState {
  readonly images: readonly Image[];
  /** Undefined: the runtime did not answer. */
  readonly runtime: RuntimeStatus | undefined;
}

export function nodeLabels({ name, machine, labels }: NodeFacts): Record<string, string> {
  return {
    "beta.kubernetes.io/arch": machine.architecture,
    "beta.kubernetes.io/os": "linux",
    "kubernetes.io/arch": machine.architecture,
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    ...labels,
  };
}

export function nodeStatus(facts: NodeFacts, state: NodeState, old: DeepReadonly<NodeStatus>, nowMs: number): NodeStatus {
  const { machine, version } = facts;
  return {
    capacity: nodeCapacity(facts),
    allocatable: nodeAllocatable(facts),
    conditions: conditions(state, old, nowMs),
    addresses: [
      { type: "InternalIP", address: facts.address },
      { type: "Hostname", address: facts.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: facts.port } },
    nodeInfo: {
      machineID: machine.machineID,
      systemUUID: machine.systemUUID,
      bootID: machine.bootID,
      kernelVersion: machine.kernelVersion,
      osImage: machine.osImage,
      containerRuntimeVersion: `${version.runtime_name}://${version.runtime_version.replace(/~.*$/, "")}`,
      kubeletVersion: facts.kubeletVersion,
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: machine.architecture,
    },
    images: shownImages(state.images),
    ...runtimeFeatures(state.runtime),
  };
}

/** The object as it is registered. */
export function newNode(facts: NodeFacts, state: NodeState, nowMs: number): Node {
  return {
    metadata: { name: facts.name, labels: nodeLabels(facts), annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" } },
    spec: {},
    status: nodeStatus(facts, state, {}, nowMs),
  };
}

export function nodeCapacity({ machine, maxPods }: NodeFacts): Record<string, string> {
  return {
    cpu: String(machine.cpus),
    "ephemeral-storage": `${Math.floor(machine.storageBytes / 1024)}Ki`,
    "hugepages-1Gi": "0",
    "hugepages-2Mi": "0",
    memory: `${Math.floor(machine.memoryBytes / 1024)}Ki`,
    pods: String(maxPods),
  };
}

/** What is left for pods when eviction must not begin: 100 Mi of memory, a tenth of the disk. */
export function nodeAllocatable(facts: NodeFacts): Record<string, string> {
  const { machine } = facts;
  return {
    ...nodeCapacity(facts),
    "ephemeral-storage": String(Math.floor(Math.floor(machine.storageBytes / 1024) * 1024 * 0.9)),
    memory: `${Math.floor(machine.memoryBytes / 1024) - 100 * 1024}Ki`,
  };
}

/** The 50 largest, with at most five names each. */
function shownImages(images: readonly Image[]): ContainerImage[] {
  return images
    .toSorted((a, b) => b.size - a.size)
    .slice(0, 50)
    .map(({ repo_tags, repo_digests, size }) => ({ names: [...repo_digests, ...repo_tags].slice(0, 5), sizeBytes: size }));
}

function runtimeFeatures(runtime: RuntimeStatus | undefined): Pick<NodeStatus, "runtimeHandlers" | "features"> {
  if (runtime === undefined) return {};
  const handlers = runtime.runtime_handlers.map(({ name, features }) => ({
    name,
    ...(features !== undefined && { features: { recursiveReadOnlyMounts: features.recursive_read_only_mounts, userNamespaces: features.user_namespaces } }),
  }));
  return {
    ...(handlers.length > 0 && { runtimeHandlers: handlers }),
    ...(runtime.features !== undefined && { features: { supplementalGroupsPolicy: runtime.features.supplemental_groups_policy } }),
  };
}

type Verdict = Pick<NodeCondition, "type" | "status" | "reason" | "message">;

function conditions(state: NodeState, old: DeepReadonly<NodeStatus>, nowMs: number): NodeCondition[] {
  const verdicts: readonly Verdict[] = [
    { type: "MemoryPressure", status: "False", reason: "KubeletHasSufficientMemory", message: "kubelet has sufficient memory available" },
    { type: "DiskPressure", status: "False", reason: "KubeletHasNoDiskPressure", message: "kubelet has no disk pressure" },
    { type: "PIDPressure", status: "False", reason: "KubeletHasSufficientPID", message: "kubelet has sufficient PID available" },
    readyVerdict(state.runtime),
  ];
  const now = formatTime(nowMs);
  const own = verdicts.map(({ type, status, reason, message }): NodeCondition => {
    const before = old.conditions?.find((condition) => condition.type === type);
    const since = before?.status === status ? (before.lastTransitionTime ?? now) : now;
    return { type, status, lastHeartbeatTime: now, lastTransitionTime: since, reason: reason!, message: message! };
  });
  const others = (old.conditions ?? []).filter(({ type }) => !own.some((condition) => condition.type === type));
  return [...others.map((condition) => ({ ...condition })), ...own];
}

function readyVerdict(runtime: RuntimeStatus | undefined): Verdict {
  const faults: string[] = [];
  if (runtime === undefined) faults.push("container runtime is down");
  for (const { type, status, reason, message } of runtime?.conditions ?? []) {
    if (status) continue;
    if (type === "NetworkReady") faults.push(`container runtime network not ready: NetworkReady=false reason:${reason} message:${message}`);
    else if (type === "RuntimeReady") faults.push(`container runtime not ready: RuntimeReady=false reason:${reason} message:${message}`);
  }
  if (faults.length === 0) return { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" };
  return { type: "Ready", status: "False", reason: "KubeletNotReady", message: faults.length === 1 ? faults[0]! : `[${faults.join(", ")}]` };
}
