/** Statuses of containers as the API shows them (API reference "ContainerStatus"). Pure. */
import { formatTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type {
  ContainerState,
  ContainerStateTerminated,
  ContainerStateWaiting,
  ContainerStatus,
  Pod,
  ResourceRequirements,
  ResourceStatus,
  VolumeMountStatus,
} from "../../api/core-v1/types.ts";
import type { ContainerHealth } from "../pod-sync/plan.ts";
import { hasExited, isRunning } from "../pod-sync/pod-runtime.ts";
import type { PodRuntime, RuntimeContainer } from "../pod-sync/pod-runtime.ts";
import { shouldRestart } from "../pod-sync/containers/restart-rules.ts";
import { isSidecar, ofKind } from "../pod-sync/runtime-names.ts";
import type { AnyContainer, ContainerKind, SpecContainer } from "../pod-sync/runtime-names.ts";
import { actualResources } from "../resources/allocation.ts";

export function containerStatuses(input: ContainerStatusInput, kind: ContainerKind): ContainerStatus[] {
  return ofKind(input.pod, kind).map((spec) => containerStatus(input, spec));
}

export interface ContainerStatusInput {
  readonly pod: DeepReadonly<Pod>;
  readonly runtime: PodRuntime;
  /** Such as `containerd`: what stands before `://` in ids. */
  readonly runtimeName: string;
  /** Nothing of the pod is started any more. */
  readonly isOver: boolean;
  /** Whether the runtime extends read-only mounts to what is mounted below them. */
  readonly canMountReadOnlyRecursively: boolean;
  health(container: RuntimeContainer): ContainerHealth;
  /** Requests and limits a container has now, as `resizableText` writes them; empty when that is not known. */
  resources(container: RuntimeContainer): string;
  /** How the devices of a container are (KEP 4680). */
  deviceHealth(containerName: string): ResourceStatus[];
  /** Why a container is not running, when the last try to start it failed or it is held back. */
  waiting(containerName: string): ContainerStateWaiting | undefined;
}

function containerStatus(input: ContainerStatusInput, spec: SpecContainer): ContainerStatus {
  const { container } = spec;
  const [current, previous] = input.runtime.containers.filter(({ name, status }) => name === container.name && status.state !== "CONTAINER_CREATED");
  const lost = current === undefined ? lostStatus(input, spec) : undefined;
  if (lost !== undefined) return lost;
  const status: ContainerStatus = {
    name: container.name,
    ...statesOf(input, spec, current, previous),
    ready: current !== undefined && isReady(input, spec, current),
    restartCount: current?.restartCount ?? 0,
    image: current === undefined ? (container.image ?? "") : current.status.image.image,
    imageID: current?.status.image_ref ?? "",
  };
  if (current !== undefined) status.containerID = `${input.runtimeName}://${current.id}`;
  if (spec.kind !== "ephemeralContainers") status.started = current !== undefined && isRunning(current) && input.health(current).isStarted;
  if (current !== undefined) Object.assign(status, resourceStatus(container.resources, isRunning(current) ? input.resources(current) : ""));
  const volumeMounts = mountStatuses(container, input.canMountReadOnlyRecursively);
  if (volumeMounts.length > 0) status.volumeMounts = volumeMounts;
  const devices = input.deviceHealth(container.name);
  if (devices.length > 0) status.allocatedResourcesStatus = devices;
  const user = current?.status.user?.linux;
  if (user !== undefined) status.user = { linux: { uid: user.uid, gid: user.gid, supplementalGroups: [...user.supplemental_groups] } };
  return status;
}

function statesOf(
  input: ContainerStatusInput,
  spec: SpecContainer,
  current: RuntimeContainer | undefined,
  previous: RuntimeContainer | undefined,
): { state: ContainerState; lastState: ContainerState } {
  const waiting = input.isOver ? undefined : input.waiting(spec.container.name);
  if (current === undefined) return { state: { waiting: waiting ?? defaultWaiting(input.pod) }, lastState: {} };
  const earlier = previous === undefined ? {} : { terminated: terminatedState(input, previous) };
  if (isRunning(current)) return { state: { running: { startedAt: timeText(current.status.started_at) } }, lastState: earlier };
  if (!hasExited(current)) return { state: { waiting: defaultWaiting(input.pod) }, lastState: earlier };
  const terminated = terminatedState(input, current);
  if (waiting !== undefined && shouldRestart(input.pod, spec, terminated.exitCode)) return { state: { waiting }, lastState: { terminated } };
  return { state: { terminated }, lastState: earlier };
}

function defaultWaiting(pod: DeepReadonly<Pod>): ContainerStateWaiting {
  return { reason: (pod.spec?.initContainers ?? []).length > 0 ? "PodInitializing" : "ContainerCreating" };
}

function terminatedState(input: ContainerStatusInput, { id, status, terminationMessage }: RuntimeContainer): ContainerStateTerminated {
  const message = [status.message, terminationMessage ?? ""].filter((text) => text !== "").join(": ");
  return {
    exitCode: status.exit_code,
    ...(status.reason !== "" && { reason: status.reason }),
    ...(message !== "" && { message }),
    startedAt: timeText(status.started_at),
    finishedAt: timeText(status.finished_at),
    containerID: `${input.runtimeName}://${id}`,
  };
}

function isReady(input: ContainerStatusInput, spec: SpecContainer, current: RuntimeContainer): boolean {
  if (spec.kind === "ephemeralContainers") return false;
  if (spec.kind === "initContainers" && !isSidecar(spec)) return hasExited(current) && current.status.exit_code === 0;
  return isRunning(current) && input.health(current).isReady;
}

/** A container that the API knows and the runtime does not: its exit code will never be known. */
function lostStatus(input: ContainerStatusInput, spec: SpecContainer): ContainerStatus | undefined {
  const known = (input.pod.status?.[`${kindMembers[spec.kind]}`] ?? []).find(({ name }) => name === spec.container.name);
  if (known === undefined) return undefined;
  // An init container that has done its work may have been removed.
  if (known.state?.terminated !== undefined) return structuredClone(known) as ContainerStatus;
  if (known.state?.running === undefined) return undefined;
  const what = input.isOver ? "the pod was deleted" : "the pod was terminated";
  const terminated: ContainerStateTerminated = {
    exitCode: 137,
    reason: "ContainerStatusUnknown",
    message: `The container could not be located when ${what}.  The container used to be Running`,
  };
  const { containerID: _id, ...rest } = structuredClone(known) as ContainerStatus;
  if (input.isOver) return { ...rest, ready: false, started: false, state: { terminated } };
  return { ...rest, ready: false, started: false, state: { waiting: defaultWaiting(input.pod) }, lastState: { terminated } };
}

const kindMembers = { containers: "containerStatuses", initContainers: "initContainerStatuses", ephemeralContainers: "ephemeralContainerStatuses" } as const;

/** `actual`: what the container runs with; empty when it does not run. */
function resourceStatus(allocated: DeepReadonly<ResourceRequirements> = {}, actual: string): Pick<ContainerStatus, "allocatedResources" | "resources"> {
  const { requests = {}, limits = {} } = actual === "" ? allocated : actualResources(actual, allocated);
  const shown: ResourceRequirements = {};
  if (Object.keys(limits).length > 0) shown.limits = { ...limits };
  if (Object.keys(requests).length > 0) shown.requests = { ...requests };
  const granted = allocated.requests ?? {};
  return { ...(Object.keys(granted).length > 0 && { allocatedResources: { ...granted } }), resources: shown };
}

function mountStatuses(container: AnyContainer, canBeRecursive: boolean): VolumeMountStatus[] {
  return (container.volumeMounts ?? []).map(({ name, mountPath, readOnly, recursiveReadOnly }) => ({
    name,
    mountPath,
    ...(readOnly === true && {
      readOnly: true,
      recursiveReadOnly: recursiveReadOnly === "Enabled" || (recursiveReadOnly === "IfPossible" && canBeRecursive) ? "Enabled" : "Disabled",
    }),
  }));
}

/** Of nanoseconds; a time that never came is the API's null. */
function timeText(nanoseconds: number): string {
  return nanoseconds === 0 ? (null as unknown as string) : formatTime(nanoseconds / 1e6);
}
