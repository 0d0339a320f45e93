/**
 * Whether a pod's first status can wait for the one that says it runs: where containers are only records that start at once, a status in
 * between is a write, and an event for everybody who follows pods, that tells nothing. Pure.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { PodRuntime } from "./pod-runtime.ts";

/** True while nothing of the pod was told and some container has not been started; `isHeld`: a container waits for something else than its turn. */
export function isUntoldStart(pod: DeepReadonly<Pod>, runtime: PodRuntime, isHeld: (containerName: string) => boolean): boolean {
  if (pod.status?.startTime !== undefined || pod.metadata.deletionTimestamp !== undefined) return false;
  const names = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].map(({ name }) => name);
  if (names.some(isHeld)) return false;
  return (pod.spec?.containers ?? []).some(
    ({ name }) => !runtime.containers.some((container) => container.name === name && container.status.state !== "CONTAINER_CREATED"),
  );
}
