/** The status of a pod as the kubelet reports it (API reference "PodStatus"). Pure. */
import { addQuantities } from "../../apimachinery/quantity.ts";
import { formatTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Container, ContainerStatus, Pod, PodCondition, PodStatus, ResourceRequirements } from "../../api/core-v1/types.ts";
import { readySandbox } from "../pod-sync/pod-runtime.ts";
import { ofKind } from "../pod-sync/runtime-names.ts";
import { podConditions } from "./conditions.ts";
import { containerStatuses } from "./container-statuses.ts";
import type { ContainerStatusInput } from "./container-statuses.ts";
import { phaseOf } from "./phase.ts";
import type { PodPhase } from "./phase.ts";

export function podStatus(input: PodStatusInput): PodStatus {
  const { pod, runtime, nowMs } = input;
  const lists = {
    init: containerStatuses(input, "initContainers"),
    main: containerStatuses(input, "containers"),
    ephemeral: containerStatuses(input, "ephemeralContainers"),
  };
  const hasRun = lists.main.some(
    ({ state, lastState }) => state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined,
  );
  const statuses = [...lists.init, ...lists.main];
  const phase = finalPhase(pod) ?? input.verdict?.phase ?? phaseOf(pod, statuses, { isOver: input.isOver, hasRun });
  const status: PodStatus = {
    observedGeneration: pod.metadata.generation ?? 0,
    phase,
    conditions: withDisruption(podConditions({ pod, runtime, statuses, phase, hasRun, nowMs, resize: input.resize }), input),
    hostIP: input.nodeAddress,
    hostIPs: [{ ip: input.nodeAddress }],
    ...addressesOf(input),
    startTime: pod.status?.startTime ?? formatTime(nowMs),
    ...listsOf(lists),
    ...(pod.status?.qosClass !== undefined && { qosClass: pod.status.qosClass }),
    ...podResources(pod, input.isFinal),
  };
  const reason = input.verdict?.reason ?? (finalPhase(pod) === undefined ? undefined : pod.status?.reason);
  const message = input.verdict?.message ?? (finalPhase(pod) === undefined ? undefined : pod.status?.message);
  if (reason !== undefined) status.reason = reason;
  if (message !== undefined) status.message = message;
  return status;
}

export interface PodStatusInput extends ContainerStatusInput {
  readonly nodeAddress: string;
  readonly nowMs: number;
  /** How a resize stands. */
  readonly resize: readonly PodCondition[];
  /** The pod's resources on the node are given back. */
  readonly isFinal: boolean;
  /** Set when the pod was ended by the kubelet: by its deadline, or by pressure on the node. */
  readonly verdict?: Verdict;
}

export interface Verdict {
  readonly phase: PodPhase;
  readonly reason: string;
  readonly message: string;
  /** The pod gives way to others: it shows the condition DisruptionTarget (KEP 3329). */
  readonly isDisruption?: boolean;
  /** Of that condition, where it is not `message`. */
  readonly disruptionMessage?: string;
}

function withDisruption(conditions: PodCondition[], { pod, verdict, nowMs }: PodStatusInput): PodCondition[] {
  if (verdict?.isDisruption !== true) return conditions;
  const before = conditions.find(({ type }) => type === "DisruptionTarget");
  const condition: PodCondition = {
    type: "DisruptionTarget",
    observedGeneration: pod.metadata.generation ?? 0,
    status: "True",
    lastProbeTime: null as unknown as string,
    lastTransitionTime: (before?.status === "True" ? before.lastTransitionTime : undefined) ?? formatTime(nowMs),
    reason: "TerminationByKubelet",
    message: verdict.disruptionMessage ?? verdict.message,
  };
  return [...conditions.filter((other) => other !== before), condition];
}

/** What a pod shows that the node did not take. */
export function rejectedStatus(pod: DeepReadonly<Pod>, reason: string, message: string, nowMs: number): PodStatus {
  return {
    observedGeneration: pod.metadata.generation ?? 0,
    phase: "Failed",
    reason,
    message: `Pod was rejected: ${message}`,
    ...(pod.status?.qosClass !== undefined && { qosClass: pod.status.qosClass }),
    startTime: pod.status?.startTime ?? formatTime(nowMs),
  };
}

/** A pod that has succeeded or failed stays so. */
function finalPhase(pod: DeepReadonly<Pod>): PodPhase | undefined {
  const phase = pod.status?.phase;
  return phase === "Succeeded" || phase === "Failed" ? phase : undefined;
}

/** Shown once some container runs or has run: the address is known with the sandbox, but means nothing before. */
function addressesOf({ pod, runtime, nodeAddress }: PodStatusInput): Pick<PodStatus, "podIP" | "podIPs"> {
  const known = pod.status?.podIPs?.map(({ ip }) => ({ ip }));
  const network = readySandbox(runtime)?.network;
  const addresses =
    pod.spec?.hostNetwork === true
      ? [nodeAddress]
      : network === undefined || network.ip === ""
        ? []
        : [network.ip, ...network.additional_ips.map(({ ip }) => ip)];
  const hasBegun = runtime.containers.some(({ status }) => status.state !== "CONTAINER_CREATED");
  if (addresses.length > 0 && hasBegun) return { podIP: addresses[0]!, podIPs: addresses.map((ip) => ({ ip })) };
  return known === undefined || known.length === 0 ? {} : { podIP: known[0]!.ip, podIPs: known };
}

function listsOf(lists: { init: ContainerStatus[]; main: ContainerStatus[]; ephemeral: ContainerStatus[] }): Partial<PodStatus> {
  return {
    ...(lists.init.length > 0 && { initContainerStatuses: lists.init }),
    ...(lists.main.length > 0 && { containerStatuses: lists.main }),
    ...(lists.ephemeral.length > 0 && { ephemeralContainerStatuses: lists.ephemeral }),
  };
}

/** What the pod as a whole may use: sums of its containers; a limit only where every container has one. */
function podResources(pod: DeepReadonly<Pod>, isFinal: boolean): Pick<PodStatus, "allocatedResources" | "resources"> {
  const containers = ofKind(pod, "containers").map(({ container }) => container as DeepReadonly<Container>);
  const requests = sums(containers, "requests", false);
  const limits = sums(containers, "limits", true);
  if (Object.keys(requests).length === 0 && Object.keys(limits).length === 0) return {};
  const resources: ResourceRequirements = {};
  if (Object.keys(limits).length > 0 && !isFinal) resources.limits = limits;
  if (Object.keys(requests).length > 0) resources.requests = requests;
  return { ...(resources.requests !== undefined && { allocatedResources: { ...requests } }), resources };
}

function sums(containers: readonly DeepReadonly<Container>[], member: "requests" | "limits", isEverywhere: boolean): Record<string, string> {
  const total: Record<string, string> = {};
  const counts: Record<string, number> = {};
  for (const { resources } of containers) {
    for (const [name, amount] of Object.entries(resources?.[member] ?? {})) {
      if (name !== "cpu" && name !== "memory") continue;
      total[name] = total[name] === undefined ? String(amount) : addQuantities(total[name], amount).text;
      counts[name] = (counts[name] ?? 0) + 1;
    }
  }
  return Object.fromEntries(Object.entries(total).filter(([name]) => !isEverywhere || counts[name] === containers.length));
}
