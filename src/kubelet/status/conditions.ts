/** Conditions of a pod that the kubelet owns, with Kubernetes' reasons and texts (documentation page "Pod Lifecycle", "Pod conditions"). Pure. */
import { formatTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ContainerStatus, Pod, PodCondition } from "../../api/core-v1/types.ts";
import { readySandbox } from "../pod-sync/pod-runtime.ts";
import type { PodRuntime } from "../pod-sync/pod-runtime.ts";
import { isSidecar, ofKind } from "../pod-sync/runtime-names.ts";
import type { SpecContainer } from "../pod-sync/runtime-names.ts";
import type { PodPhase } from "./phase.ts";

/** In the order the API shows them; those of others come first and are kept. */
export function podConditions(input: ConditionInput): PodCondition[] {
  const { pod, nowMs } = input;
  const old = pod.status?.conditions ?? [];
  const containersReady = containersReadyCondition(input);
  const own = [
    sandboxCondition(input.runtime),
    initializedCondition(input),
    readyCondition(pod, containersReady),
    containersReady,
    { type: "PodScheduled", status: "True" },
  ].map((condition): PodCondition => {
    const before = old.find(({ type }) => type === condition.type);
    const isSame = before?.status === condition.status;
    const { type, status, ...why } = condition;
    return {
      type,
      observedGeneration: pod.metadata.generation ?? 0,
      status,
      lastProbeTime: null as unknown as string,
      lastTransitionTime: (isSame ? before.lastTransitionTime : undefined) ?? formatTime(nowMs),
      ...why,
    };
  });
  const others = old.filter(({ type }) => !ownTypes.has(type)).map((condition) => ({ ...condition }));
  return [...others, ...input.resize, ...own];
}

export interface ConditionInput {
  readonly pod: DeepReadonly<Pod>;
  readonly runtime: PodRuntime;
  readonly statuses: readonly ContainerStatus[];
  readonly phase: PodPhase;
  readonly hasRun: boolean;
  readonly nowMs: number;
  readonly resize: readonly PodCondition[];
}

interface Verdict {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

const ownTypes = new Set(["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled", "PodResizePending", "PodResizeInProgress"]);

function sandboxCondition(runtime: PodRuntime): Verdict {
  const type = "PodReadyToStartContainers";
  if (readySandbox(runtime) !== undefined) return { type, status: "True" };
  return {
    type,
    status: "False",
    reason: "PodSandboxNotReady",
    message: runtime.sandboxes.length === 0 ? "no pod sandbox exists" : "pod sandbox is not ready",
  };
}

function initializedCondition({ pod, statuses, phase, hasRun }: ConditionInput): Verdict {
  const type = "Initialized";
  const specs = ofKind(pod, "initContainers");
  const unknown: string[] = [];
  const incomplete: string[] = [];
  for (const spec of specs) {
    const status = statusOf(statuses, spec);
    if (status === undefined) unknown.push(spec.container.name);
    else if (isSidecar(spec) ? status.started !== true : !status.ready) incomplete.push(spec.container.name);
  }
  if (phase === "Succeeded" && unknown.length === 0) return { type, status: "True", reason: "PodCompleted" };
  const messages = named([
    ["unknown", unknown],
    ["incomplete", incomplete],
  ]);
  if (hasRun || messages === "") return { type, status: "True" };
  return { type, status: "False", reason: "ContainersNotInitialized", message: messages };
}

function containersReadyCondition({ pod, statuses, phase }: ConditionInput): Verdict {
  const type = "ContainersReady";
  const unknown: string[] = [];
  const unready: string[] = [];
  for (const spec of [...ofKind(pod, "initContainers").filter(isSidecar), ...ofKind(pod, "containers")]) {
    const status = statusOf(statuses, spec);
    if (status === undefined) unknown.push(spec.container.name);
    else if (!status.ready) unready.push(spec.container.name);
  }
  if (phase === "Succeeded" && unknown.length === 0) return { type, status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { type, status: "False", reason: "PodFailed" };
  const messages = named([
    ["unknown", unknown],
    ["unready", unready],
  ]);
  return messages === "" ? { type, status: "True" } : { type, status: "False", reason: "ContainersNotReady", message: messages };
}

function readyCondition(pod: DeepReadonly<Pod>, containersReady: Verdict): Verdict {
  if (containersReady.status !== "True") return { ...containersReady, type: "Ready" };
  const messages: string[] = [];
  for (const { conditionType } of pod.spec?.readinessGates ?? []) {
    const condition = pod.status?.conditions?.find(({ type }) => type === conditionType);
    if (condition === undefined) messages.push(`corresponding condition of pod readiness gate "${conditionType}" does not exist.`);
    else if (condition.status !== "True") messages.push(`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`);
  }
  if (messages.length === 0) return { type: "Ready", status: "True" };
  return { type: "Ready", status: "False", reason: "ReadinessGatesNotReady", message: messages.join(", ") };
}

const statusOf = (statuses: readonly ContainerStatus[], spec: SpecContainer) => statuses.find(({ name }) => name === spec.container.name);

/** `containers with unready status: [a b], …`. */
function named(groups: readonly (readonly [string, readonly string[]])[]): string {
  return groups
    .filter(([, names]) => names.length > 0)
    .map(([word, names]) => `containers with ${word} status: [${names.join(" ")}]`)
    .join(", ");
}
