/** Sums of what a pod uses. Pure. */
import type { DiskUsage, PodUsage } from "./usage.ts";

export type DiskPlace = "rootfs" | "logs" | "volumes";

/** Of a pod in the places given; what was not measured counts as nothing. */
export function diskUsage(stats: PodUsage, places: readonly DiskPlace[]): DiskUsage {
  const parts: (DiskUsage | undefined)[] = [];
  for (const { rootfs, logs } of stats.containers) {
    if (places.includes("rootfs")) parts.push(rootfs);
    if (places.includes("logs")) parts.push(logs);
  }
  if (places.includes("volumes")) parts.push(...stats.volumes);
  return parts.reduce<DiskUsage>((sum, part) => ({ bytes: sum.bytes + (part?.bytes ?? 0), inodes: sum.inodes + (part?.inodes ?? 0) }), { bytes: 0, inodes: 0 });
}
