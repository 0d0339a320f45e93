import type { Log } from "../../base/log.ts";
import type { ContainerRuntime } from "../runtime/cri.ts";
import type { PodStorage } from "./pod-storage.ts";

/** Takes down what pods have left on disk that are gone from API and runtime: an earlier kubelet did not come to it, or failed. */
export async function removeLeftovers(options: LeftoverOptions, signal: AbortSignal): Promise<void> {
  const { storage, runtime, log, isKnown } = options;
  const sandboxes = new Set((await runtime.listPodSandbox(undefined, signal)).map(({ metadata }) => metadata.uid));
  for (const uid of await storage.podUids()) {
    if (sandboxes.has(uid) || isKnown(uid)) continue;
    log.info("Removed what a pod had left on disk", { uid });
    await storage.tearDown(uid);
  }
}

export interface LeftoverOptions {
  readonly storage: PodStorage;
  readonly runtime: ContainerRuntime;
  readonly log: Log;
  /** Whether the API or a worker has the pod. */
  isKnown(podUid: string): boolean;
}
