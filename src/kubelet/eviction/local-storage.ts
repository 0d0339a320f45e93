/** Pods that use more of the node's disk than they may (documentation page "Local ephemeral storage"). Pure. */
import { quantityValue, toQuantity } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { containersOf } from "../pod-sync/runtime-names.ts";
import { podLimits } from "../resources/pod-requests.ts";
import { diskUsage } from "../stats/sums.ts";
import type { PodUsage } from "../stats/usage.ts";
import { containerStorageMessage, emptyDirMessage, evictedReason, podStorageMessage } from "./messages.ts";
import { immediateGraceSeconds } from "./plan.ts";
import type { Eviction } from "./plan.ts";
import { isCriticalPod } from "./ranking.ts";

export function storageEvictions(
  pods: readonly DeepReadonly<Pod>[],
  usage: ReadonlyMap<string, PodUsage>,
  { isOneFilesystem }: { isOneFilesystem: boolean },
): Eviction[] {
  return pods.flatMap((pod) => {
    const stats = usage.get(pod.metadata.uid ?? "");
    if (stats === undefined || isCriticalPod(pod)) return [];
    const message = emptyDirFault(pod, stats) ?? podFault(pod, stats) ?? containerFault(pod, stats, isOneFilesystem);
    return message === undefined ? [] : [{ pod, reason: evictedReason, message, annotations: {}, graceSeconds: immediateGraceSeconds, isDisruption: false }];
  });
}

function emptyDirFault(pod: DeepReadonly<Pod>, stats: PodUsage): string | undefined {
  for (const { name, emptyDir } of pod.spec?.volumes ?? []) {
    const limit = emptyDir?.sizeLimit;
    const used = stats.volumes.find((volume) => volume.name === name)?.bytes;
    if (limit === undefined || used === undefined) continue;
    const bytes = quantityValue(limit);
    if (bytes > 0 && used > bytes) return emptyDirMessage(name, toQuantity(limit).text);
  }
  return undefined;
}

function podFault(pod: DeepReadonly<Pod>, stats: PodUsage): string | undefined {
  const limit = podLimits(pod)["ephemeral-storage"];
  if (limit === undefined) return undefined;
  return diskUsage(stats, ["rootfs", "logs", "volumes"]).bytes > quantityValue(limit) ? podStorageMessage(toQuantity(limit).text) : undefined;
}

function containerFault(pod: DeepReadonly<Pod>, stats: PodUsage, isOneFilesystem: boolean): string | undefined {
  for (const { name, rootfs, logs } of stats.containers) {
    const limit = containersOf(pod).find(({ container }) => container.name === name)?.container.resources?.limits?.["ephemeral-storage"];
    if (limit === undefined || quantityValue(limit) === 0) continue;
    // What is written beside the images counts against their file system.
    const used = (logs?.bytes ?? 0) + (isOneFilesystem ? (rootfs?.bytes ?? 0) : 0);
    if (used > quantityValue(limit)) return containerStorageMessage(name, toQuantity(limit).text);
  }
  return undefined;
}
