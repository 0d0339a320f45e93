/** `kubelet_volume_stats_*`: how full the volumes of claims are. Pure. */
import type { PodSample } from "../../stats/snapshot.ts";
import type { FilesystemLevel } from "../../stats/usage.ts";
import type { SampleFamily } from "./exposition.ts";

export function volumeMetrics(pods: readonly PodSample[]): SampleFamily[] {
  // Pods that share a claim tell the same of it.
  const volumes = new Map<string, { labels: Record<string, string>; filesystem: FilesystemLevel }>();
  for (const { pod, claims = [] } of pods) {
    const namespace = pod.metadata.namespace ?? "";
    for (const { claimName, filesystem } of claims)
      volumes.set(`${namespace}/${claimName}`, { labels: { namespace, persistentvolumeclaim: claimName }, filesystem });
  }
  return families.map(([name, help, read]) => ({
    name: `kubelet_volume_stats_${name}`,
    help: `[ALPHA] ${help}`,
    type: "gauge",
    samples: [...volumes.values()].map(({ labels, filesystem }) => ({ labels, value: read(filesystem) })),
  }));
}

const families: readonly [name: string, help: string, read: (filesystem: FilesystemLevel) => number][] = [
  ["available_bytes", "Number of available bytes in the volume", ({ availableBytes }) => availableBytes],
  ["capacity_bytes", "Capacity in bytes of the volume", ({ capacityBytes }) => capacityBytes],
  ["inodes", "Maximum number of inodes in the volume", ({ inodes }) => inodes],
  ["inodes_free", "Number of free inodes in the volume", ({ inodesFree }) => inodesFree],
  ["inodes_used", "Number of used inodes in the volume", ({ inodes, inodesFree }) => inodes - inodesFree],
  ["used_bytes", "Number of used bytes in the volume", ({ usedBytes }) => usedBytes],
];
