/** The row of a pod: how far it is, in one word, from its phase, its containers and its deletion (documentation page "Pod Lifecycle"). */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { age, durationText, instantMs, nameOf, orNone } from "../cells.ts";
import type { RowCondition, RowContext, TablePrinter } from "../table.ts";
import type { Container, ContainerState, ContainerStatus, Pod } from "./types.ts";

export const podColumns: TablePrinter<Pod> = {
  cells(pod, context) {
    const { spec, status } = pod;
    const summary = summarize(pod);
    const gates = spec?.readinessGates ?? [];
    const openGates = gates.filter(({ conditionType }) => isConditionTrue(pod, conditionType)).length;
    return [
      nameOf(pod),
      `${summary.readyCount}/${(spec?.containers ?? []).length + (spec?.initContainers ?? []).filter(isSidecar).length}`,
      summary.reason,
      restartsText(summary.restarts, context),
      age(pod, context),
      orNone(status?.podIPs?.[0]?.ip ?? status?.podIP),
      orNone(spec?.nodeName),
      orNone(status?.nominatedNodeName),
      gates.length === 0 ? "<none>" : `${openGates}/${gates.length}`,
    ];
  },
  conditions(pod) {
    const phase = pod.status?.phase;
    return phase === "Succeeded" || phase === "Failed" ? [finished[phase]] : [];
  },
};

const finished: Readonly<Record<"Succeeded" | "Failed", RowCondition>> = {
  Succeeded: { type: "Completed", status: "True", reason: "Succeeded", message: "The pod has completed successfully." },
  Failed: { type: "Completed", status: "True", reason: "Failed", message: "The pod failed." },
};

interface Restarts {
  readonly count: number;
  /** When the last one of the containers that ended before did so. */
  readonly lastMs: number | undefined;
}

interface Summary {
  readonly reason: string;
  readonly readyCount: number;
  readonly restarts: Restarts;
}

function summarize(pod: DeepReadonly<Pod>): Summary {
  const init = summarizeInit(pod);
  const isInitializing = init.reason !== undefined;
  let reason = init.reason ?? ownReason(pod);
  let readyCount = init.readyCount;
  let restarts = init.restarts;
  if (!isInitializing || isConditionTrue(pod, "Initialized")) {
    const statuses = pod.status?.containerStatuses ?? [];
    const ready = statuses.filter(isReadyAndRunning).length;
    readyCount += ready;
    restarts = addRestarts([...init.sidecars, ...statuses]);
    const reasons = statuses.map(containerReason).filter((text) => text !== undefined);
    reason = reasons.find((text) => text !== "Completed") ?? reasons[0] ?? reason;
    // Some containers are done and others serve: the pod has not completed.
    if (reason === "Completed" && ready > 0) reason = isConditionTrue(pod, "Ready") ? "Running" : "NotReady";
  }
  return { reason: deletionReason(pod) ?? reason, readyCount, restarts };
}

function ownReason(pod: DeepReadonly<Pod>): string {
  const isGated = pod.status?.conditions?.some(({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated");
  if (isGated === true) return "SchedulingGated";
  return pod.status?.reason !== undefined && pod.status.reason !== "" ? pod.status.reason : (pod.status?.phase ?? "");
}

function deletionReason(pod: DeepReadonly<Pod>): string | undefined {
  if (pod.metadata.deletionTimestamp === undefined) return undefined;
  if (pod.status?.reason === "NodeLost") return "Unknown";
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed" ? undefined : "Terminating";
}

/** Walks the init containers up to the first that is not done; `reason` is undefined when all are. */
function summarizeInit(pod: DeepReadonly<Pod>): {
  reason: string | undefined;
  readyCount: number;
  restarts: Restarts;
  sidecars: DeepReadonly<ContainerStatus>[];
} {
  const containers = pod.spec?.initContainers ?? [];
  const statuses = pod.status?.initContainerStatuses ?? [];
  const sidecarNames = new Set(containers.filter(isSidecar).map(({ name }) => name));
  let readyCount = 0;
  for (const [index, status] of statuses.entries()) {
    const isStartedSidecar = sidecarNames.has(status.name) && status.started === true;
    if (isStartedSidecar && status.ready && status.state?.terminated?.exitCode !== 0) readyCount++;
    if (isStartedSidecar || status.state?.terminated?.exitCode === 0) continue;
    const reason = initReason(status.state) ?? `Init:${index}/${containers.length}`;
    const seen = statuses.slice(0, index + 1);
    return { reason, readyCount, restarts: addRestarts(seen), sidecars: seen.filter(({ name }) => sidecarNames.has(name)) };
  }
  return { reason: undefined, readyCount, restarts: addRestarts(statuses), sidecars: statuses.filter(({ name }) => sidecarNames.has(name)) };
}

function initReason(state: DeepReadonly<ContainerState> | undefined): string | undefined {
  if (state?.terminated !== undefined) return `Init:${terminatedReason(state.terminated)}`;
  const waiting = state?.waiting?.reason;
  return waiting !== undefined && waiting !== "" && waiting !== "PodInitializing" ? `Init:${waiting}` : undefined;
}

function containerReason({ state }: DeepReadonly<ContainerStatus>): string | undefined {
  if (state?.waiting?.reason !== undefined && state.waiting.reason !== "") return state.waiting.reason;
  return state?.terminated === undefined ? undefined : terminatedReason(state.terminated);
}

function terminatedReason({ reason, signal, exitCode }: DeepReadonly<NonNullable<ContainerState["terminated"]>>): string {
  if (reason !== undefined && reason !== "") return reason;
  return signal !== undefined && signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`;
}

function isReadyAndRunning(status: DeepReadonly<ContainerStatus>): boolean {
  return status.ready === true && status.state?.running !== undefined && containerReason(status) === undefined;
}

function isSidecar({ restartPolicy }: DeepReadonly<Container>): boolean {
  return restartPolicy === "Always";
}

function isConditionTrue(pod: DeepReadonly<Pod>, type: string): boolean {
  return pod.status?.conditions?.find((condition) => condition.type === type)?.status === "True";
}

function addRestarts(statuses: ReadonlyArray<DeepReadonly<ContainerStatus>>): Restarts {
  let count = 0;
  let lastMs: number | undefined;
  for (const { restartCount, lastState } of statuses) {
    count += restartCount ?? 0;
    const endedMs = instantMs(lastState?.terminated?.finishedAt);
    if (endedMs !== undefined && (lastMs === undefined || endedMs > lastMs)) lastMs = endedMs;
  }
  return { count, lastMs };
}

function restartsText({ count, lastMs }: Restarts, context: RowContext): string {
  return count === 0 || lastMs === undefined ? String(count) : `${count} (${durationText(context.nowMs - lastMs)} ago)`;
}
