import { join } from "node:path";
import type { Log } from "../../base/log.ts";
import type { ContainerRuntime } from "../runtime/cri.ts";
import type { PodStorage } from "./pod-storage.ts";

/** Takes down what pods have left on disk that are gone from API and runtime: an earlier kubelet did not come to it, or failed. */
export async function removeLeftovers(options: LeftoverOptions, signal: AbortSignal): Promise<void> {
  const { storage, runtime, logRoot, log, isKnown } = options;
  const sandboxes = new Set((await runtime.listPodSandbox(undefined, signal)).map(({ metadata }) => metadata.uid));
  for (const uid of await storage.podUids()) {
    if (sandboxes.has(uid) || isKnown(uid)) continue;
    log.info("Removed what a pod had left on disk", { uid });
    await storage.tearDown(uid);
  }
  for (const name of await storage.logNames(logRoot)) {
    // `NAMESPACE_NAME_UID`; other names are not ours.
    const [, , uid, ...more] = name.split("_");
    if (uid === undefined || more.length > 0 || sandboxes.has(uid) || isKnown(uid)) continue;
    await storage.removeLogs(join(logRoot, name));
  }
}

export interface LeftoverOptions {
  readonly storage: PodStorage;
  readonly runtime: ContainerRuntime;
  /** Where pods' logs are. */
  readonly logRoot: string;
  readonly log: Log;
  /** Whether the API or a worker has the pod. */
  isKnown(podUid: string): boolean;
}
