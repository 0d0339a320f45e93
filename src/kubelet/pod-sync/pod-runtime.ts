/** What the runtime knows of one pod, as deciders read it. */
import { isRuntimeNotFound } from "../runtime/cri.ts";
import type { RuntimeService } from "../runtime/cri.ts";
import type { Container, ContainerStatus, PodSandboxStatus } from "../runtime/cri-messages.ts";
import { runtimeAnnotations, runtimeLabels } from "./runtime-names.ts";

export interface PodRuntime {
  /** Newest first. */
  readonly sandboxes: readonly PodSandboxStatus[];
  /** Newest first. */
  readonly containers: readonly RuntimeContainer[];
}

export interface RuntimeContainer {
  readonly id: string;
  readonly name: string;
  readonly sandboxId: string;
  readonly restartCount: number;
  readonly hash: string;
  /** Requests and limits it was made with; empty when that is not known. */
  readonly resources: string;
  readonly status: ContainerStatus;
  /** What the container left as its last words, read when it ended. */
  readonly terminationMessage?: string;
}

export const emptyPodRuntime: PodRuntime = { sandboxes: [], containers: [] };

/** The newest instance of a container, in any sandbox or in the one given. */
export function latestOf(runtime: PodRuntime, name: string, sandboxId?: string): RuntimeContainer | undefined {
  return runtime.containers.find((container) => container.name === name && (sandboxId === undefined || container.sandboxId === sandboxId));
}

export const isRunning = ({ status }: RuntimeContainer) => status.state === "CONTAINER_RUNNING";
export const hasExited = ({ status }: RuntimeContainer) => status.state === "CONTAINER_EXITED";

/** The sandbox that containers can run in: ready, and with an address unless the pod is on the node's network. */
export function readySandbox(runtime: PodRuntime): PodSandboxStatus | undefined {
  const [newest] = runtime.sandboxes;
  if (newest?.state !== "SANDBOX_READY") return undefined;
  const isHostNetwork = newest.linux?.namespaces?.options?.network === "NODE";
  return isHostNetwork || (newest.network?.ip ?? "") !== "" ? newest : undefined;
}

/** Reads a pod's sandboxes and containers. `known`: statuses of ended containers are not asked for again. */
export async function readPodRuntime(
  runtime: RuntimeService,
  podUid: string,
  known: PodRuntime,
  lastWords: LastWords,
  signal: AbortSignal,
): Promise<PodRuntime> {
  const label_selector = { [runtimeLabels.podUid]: podUid };
  const [sandboxes, containers] = await Promise.all([runtime.listPodSandbox({ label_selector }, signal), runtime.listContainers({ label_selector }, signal)]);
  const [sandboxStatuses, containerStatuses] = await Promise.all([
    Promise.all(sandboxes.map(({ id }) => unlessGone(runtime.podSandboxStatus(id, signal)))),
    Promise.all(containers.map((container) => readContainer(runtime, container, known, lastWords, signal))),
  ]);
  return {
    sandboxes: present(sandboxStatuses).toSorted((a, b) => b.created_at - a.created_at || b.metadata.attempt - a.metadata.attempt),
    containers: present(containerStatuses).toSorted((a, b) => b.restartCount - a.restartCount || b.status.created_at - a.status.created_at),
  };
}

/** Reads the message a container ended with. */
export type LastWords = (status: ContainerStatus) => Promise<string>;

async function readContainer(
  runtime: RuntimeService,
  container: Container,
  known: PodRuntime,
  lastWords: LastWords,
  signal: AbortSignal,
): Promise<RuntimeContainer | undefined> {
  const old = known.containers.find(({ id }) => id === container.id);
  if (old !== undefined && hasExited(old)) return old;
  const status = await unlessGone(runtime.containerStatus(container.id, signal));
  if (status === undefined) return undefined;
  return {
    id: container.id,
    name: status.labels[runtimeLabels.containerName] ?? status.metadata.name,
    sandboxId: container.pod_sandbox_id,
    restartCount: Number(status.annotations[runtimeAnnotations.restartCount] ?? status.metadata.attempt),
    hash: status.annotations[runtimeAnnotations.hash] ?? "",
    resources: status.annotations[runtimeAnnotations.resources] ?? "",
    status,
    ...(status.state === "CONTAINER_EXITED" && { terminationMessage: await lastWords(status) }),
  };
}

async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isRuntimeNotFound(error)) return undefined;
    throw error;
  }
}

const present = <T>(list: readonly (T | undefined)[]) => list.filter((item): item is T => item !== undefined);
