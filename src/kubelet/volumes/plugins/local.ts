/** Disks and directories of this machine as PersistentVolumes (API reference "LocalVolumeSource"). */
import { mkdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Mounts, Programs } from "../../../host/index.ts";
import { mountDevice } from "../device-mounts.ts";
import { removeMountPoint } from "../mount-points.ts";
import { giveToGroup } from "../ownership.ts";
import { VolumeError } from "../volume.ts";
import type { ReadyVolume } from "../volume.ts";
import type { SetUpRequest, VolumePlugin } from "./volume-plugin.ts";

export interface LocalPluginOptions {
  /** The kubelet's folder: devices are mounted below it once for all pods. */
  readonly root: string;
  /** Absent where we may not mount. */
  readonly host?: { readonly mounts: Mounts; readonly programs: Programs };
}

export function localPlugin(options: LocalPluginOptions): VolumePlugin {
  const globalRoot = join(options.root, "plugins/kubernetes.io/local-volume/mounts");
  return {
    folder: "kubernetes.io~local-volume",
    async setUp(request) {
      const { resolved, pod } = request;
      const { path = "", fsType } = resolved.persistent?.spec?.local ?? {};
      const stats = await stat(path).catch(() => {
        throw new VolumeError(`path ${JSON.stringify(path)} does not exist`, {
          operation: `${resolved.isBlock ? "MapVolume.NewBlockVolumeMapper" : "MountVolume.NewMounter"} initialization`,
        });
      });
      if (resolved.isBlock) return blockDevice(path, stats.isBlockDevice(), resolved.isReadOnly);
      let source = path;
      if (stats.isBlockDevice()) {
        if (options.host === undefined) throw new VolumeError("devices cannot be mounted by this kind of node");
        source = join(globalRoot, resolved.specName);
        await mountDevice(path, source, { ...options.host, ...(fsType !== undefined && { fsType }), options: resolved.persistent?.spec?.mountOptions ?? [] });
      } else if (!stats.isDirectory()) {
        throw new VolumeError(`path ${JSON.stringify(path)} is neither a directory nor a block device`);
      }
      const ready = await bound(request, source, options.host?.mounts);
      const { fsGroup: group, fsGroupChangePolicy } = pod.spec?.securityContext ?? {};
      if (group !== undefined && !resolved.isReadOnly)
        await giveToGroup(source, { group, isReadOnly: false, isOnRootMismatch: fsGroupChangePolicy === "OnRootMismatch" });
      return ready;
    },
    /** A device stays mounted as long as a pod has it. */
    async tearDown({ directory }) {
      if (options.host === undefined) return;
      const { mounts } = options.host;
      const own = (await mounts.list()).find(({ mountPoint }) => mountPoint === directory);
      await mounts.unmount(directory);
      await removeMountPoint(directory);
      if (own === undefined) return;
      const left = (await mounts.list()).filter(({ source, root }) => source === own.source && root === own.root);
      const global = left.find(({ mountPoint }) => mountPoint.startsWith(`${globalRoot}/`));
      if (global !== undefined && left.length === 1) await mounts.unmount(global.mountPoint);
    },
  };
}

/** A mount of the pod's own: it has the options asked for, and the directory cannot be exchanged for another. */
async function bound({ resolved, directory }: SetUpRequest, source: string, mounts: Mounts | undefined): Promise<ReadyVolume> {
  const { isReadOnly } = resolved;
  if (mounts === undefined) return { path: source, isReadOnly, isBlock: false };
  await mkdir(directory, { recursive: true, mode: 0o750 });
  if (!(await mounts.list()).some(({ mountPoint }) => mountPoint === directory)) {
    const settings = resolved.persistent?.spec?.mountOptions ?? [];
    await mounts.bind(source, directory, { isReadOnly, options: settings });
  }
  return { path: directory, isReadOnly, isBlock: false };
}

async function blockDevice(path: string, isBlockDevice: boolean, isReadOnly: boolean): Promise<ReadyVolume> {
  if (!isBlockDevice)
    throw new VolumeError(`path ${JSON.stringify(path)} is not a block device`, { operation: "MapVolume.MapPodDevice", eventReason: "FailedMapVolume" });
  return { path: await realpath(path), isReadOnly, isBlock: true };
}
