/** The phase of a pod from its containers' statuses (documentation page "Pod Lifecycle", "Pod phase"). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ContainerStatus, Pod } from "../../api/core-v1/types.ts";
import { shouldRestart } from "../pod-sync/containers/restart-rules.ts";
import { isSidecar, ofKind } from "../pod-sync/runtime-names.ts";
import type { SpecContainer } from "../pod-sync/runtime-names.ts";

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed";

/** `isOver`: its containers are not started again, whatever the restart policy; `hasRun`: a regular container was started before. */
export function phaseOf(pod: DeepReadonly<Pod>, statuses: readonly ContainerStatus[], state: { isOver: boolean; hasRun: boolean }): PodPhase {
  const of = (spec: SpecContainer) => statuses.find(({ name }) => name === spec.container.name);
  const initContainers = ofKind(pod, "initContainers");
  const init = countInit(
    pod,
    initContainers.filter((spec) => !isSidecar(spec)),
    of,
  );
  if (init.hasFailed) return "Failed";
  const sidecars = countSidecars(initContainers.filter(isSidecar), of);
  const main = countMain(pod, ofKind(pod, "containers"), of);
  if (init.pending > 0 || (sidecars.pending > 0 && !state.hasRun) || sidecars.waiting + main.waiting > 0) return "Pending";
  if (main.unknown + sidecars.unknown > 0) return "Pending";
  if (main.running + sidecars.running > 0) return "Running";
  if (main.stopped === 0) return "Pending";
  if (!state.isOver && main.restarting > 0) return "Running";
  return main.stopped === main.succeeded ? "Succeeded" : "Failed";
}

type StatusOf = (spec: SpecContainer) => ContainerStatus | undefined;

function countInit(pod: DeepReadonly<Pod>, specs: readonly SpecContainer[], of: StatusOf): { pending: number; hasFailed: boolean } {
  let pending = 0;
  let hasFailed = false;
  for (const spec of specs) {
    const status = of(spec);
    const ended = status?.state?.terminated ?? (status?.state?.waiting === undefined ? undefined : status.lastState?.terminated);
    if (ended === undefined) pending++;
    else if (ended.exitCode !== 0) {
      if (shouldRestart(pod, spec, ended.exitCode)) pending++;
      else hasFailed = true;
    }
  }
  return { pending, hasFailed };
}

function countSidecars(specs: readonly SpecContainer[], of: StatusOf): { pending: number; waiting: number; running: number; unknown: number } {
  const counts = { pending: 0, waiting: 0, running: 0, unknown: 0 };
  for (const spec of specs) {
    const status = of(spec);
    if (status?.state === undefined) counts.unknown++;
    else if (status.state.running !== undefined) {
      counts.running++;
      if (status.started !== true) counts.pending++;
    } else if (status.state.waiting !== undefined && status.lastState?.terminated === undefined) {
      counts.pending++;
      counts.waiting++;
    }
  }
  return counts;
}

function countMain(pod: DeepReadonly<Pod>, specs: readonly SpecContainer[], of: StatusOf) {
  const counts = { unknown: 0, running: 0, waiting: 0, stopped: 0, succeeded: 0, restarting: 0 };
  for (const spec of specs) {
    const status = of(spec);
    const ended = status?.state?.terminated ?? status?.lastState?.terminated;
    if (status?.state?.running !== undefined) counts.running++;
    else if (ended === undefined) counts[status?.state?.waiting === undefined ? "unknown" : "waiting"]++;
    else {
      counts.stopped++;
      if (status?.state?.terminated !== undefined && ended.exitCode === 0) counts.succeeded++;
      if (shouldRestart(pod, spec, ended.exitCode)) counts.restarting++;
    }
  }
  return counts;
}
