/** emptyDir volumes: on disk, in memory, in huge pages (API reference "EmptyDirVolumeSource"). */
import { chmod, mkdir } from "node:fs/promises";
import { quantityValue } from "../../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { EmptyDirVolumeSource, Pod } from "../../../api/core-v1/types.ts";
import type { Mounts } from "../../../host/index.ts";
import { giveToGroup } from "../ownership.ts";
import { VolumeError } from "../volume.ts";
import type { SetUpRequest, VolumePlugin } from "./volume-plugin.ts";

/** `mounts`: absent where we may not mount; memory is then disk. */
export function emptyDirPlugin(mounts: Mounts | undefined): VolumePlugin {
  return {
    folder: "kubernetes.io~empty-dir",
    async setUp(request) {
      const { pod, resolved, directory } = request;
      const source = resolved.volume.emptyDir ?? {};
      const isNew = (await mkdir(directory, { recursive: true, mode: 0o777 })) !== undefined;
      const medium = source.medium ?? "";
      if (medium === "" || mounts === undefined) {
        if (isNew) await chmod(directory, source.mode ?? 0o777);
      } else if (!(await mounts.list()).some(({ mountPoint }) => mountPoint === directory)) {
        if (medium === "Memory") await mounts.mountTmpfs(directory, { sizeBytes: memoryBytes(request, source), mode: "1777" });
        else await mounts.mount({ type: "hugetlbfs", source: "nodev", mountPoint: directory, options: hugePageOptions(pod, source) });
      }
      const group = pod.spec?.securityContext?.fsGroup;
      if (isNew && group !== undefined) await giveToGroup(directory, { group, isReadOnly: false, isOnRootMismatch: false });
      return { path: directory, isReadOnly: false, isBlock: false };
    },
  };
}

/** The least of what it may have, what the pod may have, and what the node has. */
function memoryBytes({ pod, sources }: SetUpRequest, { sizeLimit }: DeepReadonly<EmptyDirVolumeSource>): number {
  const bytes = [sources.facts.allocatable["memory"], pod.spec?.resources?.limits?.["memory"] ?? podLimit(pod), sizeLimit];
  const known = bytes.map((quantity) => (quantity === undefined ? 0 : Number(quantityValue(quantity)))).filter((value) => value > 0);
  return known.length === 0 ? 0 : Math.min(...known);
}

/** Of all containers together; undefined when one has none. */
function podLimit({ spec }: DeepReadonly<Pod>): number | undefined {
  const limits = (spec?.containers ?? []).map(({ resources }) => resources?.limits?.["memory"]);
  if (limits.includes(undefined)) return undefined;
  return limits.reduce<number>((sum, limit) => sum + Number(quantityValue(limit!)), 0);
}

function hugePageOptions(pod: DeepReadonly<Pod>, { medium = "", sizeLimit }: DeepReadonly<EmptyDirVolumeSource>): string[] {
  const named = /^HugePages-(.+)$/.exec(medium)?.[1];
  const asked = new Set(
    (pod.spec?.containers ?? [])
      .flatMap(({ resources }) => Object.keys({ ...resources?.requests, ...resources?.limits }))
      .flatMap((name) => /^hugepages-(.+)$/.exec(name)?.[1] ?? []),
  );
  const [only] = asked;
  const size = named ?? (asked.size === 1 ? only : undefined);
  if (size === undefined) throw new VolumeError("medium HugePages can be used only if container requests and limits of one page size");
  return [`pagesize=${size.replace(/i$/, "")}`, ...(sizeLimit === undefined ? [] : [`size=${quantityValue(sizeLimit)}`])];
}
