/** The Node object: what is registered, and its status (documentation page "Node status"). Pure. */
import { formatTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ContainerImage, Node, NodeCondition, NodeStatus } from "../../api/core-v1/types.ts";
import type { Image, RuntimeStatus, VersionResponse } from "../runtime/cri-messages.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import type { PressureCondition } from "../eviction/thresholds.ts";
import { nodeAllocatable, nodeCapacity } from "./allocatable.ts";
import type { NodeResources } from "./allocatable.ts";
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
  readonly settings: KubeletSettings;
  /** One for each family; may be empty. */
  readonly podCidrs: readonly string[];
}

/** What changes while the node lives. */
export interface NodeState {
  readonly images: readonly Image[];
  /** Undefined: the runtime did not answer. */
  readonly runtime: RuntimeStatus | undefined;
  readonly pressure: readonly PressureCondition[];
  readonly isShuttingDown: boolean;
  /** Of plugins: what there is, and what of it can be used. */
  readonly devices: { readonly capacity: NodeResources; readonly allocatable: NodeResources };
  /** Attached volumes that must stay so. */
  readonly volumesInUse: readonly string[];
}

export function nodeLabels({ name, machine, labels, settings }: NodeFacts): Record<string, string> {
  return {
    "beta.kubernetes.io/arch": machine.architecture,
    "beta.kubernetes.io/os": "linux",
    "kubernetes.io/arch": machine.architecture,
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    ...labels,
    ...settings.nodeLabels,
  };
}

export function nodeStatus(facts: NodeFacts, state: NodeState, old: DeepReadonly<NodeStatus>, nowMs: number): NodeStatus {
  const { machine, version } = facts;
  return {
    capacity: { ...extended(old.capacity, state.devices.capacity), ...nodeCapacity(machine, facts.settings) },
    allocatable: { ...extended(old.capacity, state.devices.allocatable), ...nodeAllocatable(machine, facts.settings) },
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
    images: shownImages(state.images, facts.settings.nodeStatusMaxImages),
    // An empty list takes the last one away.
    ...((state.volumesInUse.length > 0 || (old.volumesInUse ?? []).length > 0) && { volumesInUse: [...state.volumesInUse] }),
    ...runtimeFeatures(state.runtime),
  };
}

/** The object as it is registered. */
export function newNode(facts: NodeFacts, state: NodeState, nowMs: number): Node {
  return {
    metadata: { name: facts.name, labels: nodeLabels(facts), annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" } },
    spec: {
      ...(facts.podCidrs.length > 0 && { podCIDR: facts.podCidrs[0]!, podCIDRs: [...facts.podCidrs] }),
      ...(facts.settings.registerWithTaints.length > 0 && { taints: facts.settings.registerWithTaints.map((taint) => ({ ...taint })) }),
    },
    status: nodeStatus(facts, state, {}, nowMs),
  };
}

/** What others say the node has (documentation page "Advertise Extended Resources for a Node"), and devices. */
function extended(told: DeepReadonly<NodeStatus["capacity"]>, devices: NodeResources): NodeResources {
  const others = Object.entries(told ?? {}).filter(([name]) => name.includes("/"));
  return { ...Object.fromEntries(others.map(([name, amount]) => [name, String(amount)])), ...devices };
}

/** The largest, with at most five names each; `max` of -1: all. */
function shownImages(images: readonly Image[], max: number): ContainerImage[] {
  return images
    .toSorted((a, b) => b.size - a.size)
    .slice(0, max === -1 ? images.length : max)
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

const pressureVerdicts = [
  [
    "MemoryPressure",
    { reason: "KubeletHasSufficientMemory", message: "kubelet has sufficient memory available" },
    { reason: "KubeletHasInsufficientMemory", message: "kubelet has insufficient memory available" },
  ],
  [
    "DiskPressure",
    { reason: "KubeletHasNoDiskPressure", message: "kubelet has no disk pressure" },
    { reason: "KubeletHasDiskPressure", message: "kubelet has disk pressure" },
  ],
  [
    "PIDPressure",
    { reason: "KubeletHasSufficientPID", message: "kubelet has sufficient PID available" },
    { reason: "KubeletHasInsufficientPID", message: "kubelet has insufficient PID available" },
  ],
] as const;

type Verdict = Pick<NodeCondition, "type" | "status" | "reason" | "message">;

function conditions(state: NodeState, old: DeepReadonly<NodeStatus>, nowMs: number): NodeCondition[] {
  const verdicts: readonly Verdict[] = [
    ...pressureVerdicts.map(([type, calm, tense]) =>
      state.pressure.includes(type) ? { type, status: "True" as const, ...tense } : { type, status: "False" as const, ...calm },
    ),
    readyVerdict(state.runtime, state.isShuttingDown),
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

function readyVerdict(runtime: RuntimeStatus | undefined, isShuttingDown: boolean): Verdict {
  const faults: string[] = [];
  if (runtime === undefined) faults.push("container runtime is down");
  for (const { type, status, reason, message } of runtime?.conditions ?? []) {
    if (status) continue;
    if (type === "NetworkReady") faults.push(`container runtime network not ready: NetworkReady=false reason:${reason} message:${message}`);
    else if (type === "RuntimeReady") faults.push(`container runtime not ready: RuntimeReady=false reason:${reason} message:${message}`);
  }
  if (isShuttingDown) faults.push("node is shutting down");
  if (faults.length === 0) return { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" };
  return { type: "Ready", status: "False", reason: "KubeletNotReady", message: faults.length === 1 ? faults[0]! : `[${faults.join(", ")}]` };
}
