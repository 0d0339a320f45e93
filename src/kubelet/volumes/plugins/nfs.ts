/** NFS volumes, mounted by mount.nfs(8), which the machine has to have (API reference "NFSVolumeSource"). */
import { mkdir } from "node:fs/promises";
import { MountError } from "../../../host/index.ts";
import type { Mounts } from "../../../host/index.ts";
import { removeMountPoint } from "../mount-points.ts";
import { VolumeError } from "../volume.ts";
import type { VolumePlugin } from "./volume-plugin.ts";

export function nfsPlugin(mounts: Mounts): VolumePlugin {
  return {
    folder: "kubernetes.io~nfs",
    async setUp({ resolved, directory }) {
      const { server = "", path = "" } = resolved.persistent?.spec?.nfs ?? resolved.volume.nfs ?? {};
      const ready = { path: directory, isReadOnly: resolved.isReadOnly, isBlock: false };
      if ((await mounts.list()).some(({ mountPoint }) => mountPoint === directory)) return ready;
      await mkdir(directory, { recursive: true, mode: 0o750 });
      const options = [...(resolved.isReadOnly ? ["ro"] : []), ...(resolved.persistent?.spec?.mountOptions ?? [])];
      const host = server.includes(":") ? `[${server}]` : server;
      try {
        await mounts.mount({ type: "nfs", source: `${host}:${path}`, mountPoint: directory, options });
      } catch (error) {
        await removeMountPoint(directory);
        throw error instanceof MountError ? new VolumeError(mountFailure(error), { cause: error }) : error;
      }
      return ready;
    },
    async tearDown({ directory }) {
      await mounts.unmount(directory);
      await removeMountPoint(directory);
    },
  };
}

/** As events show it, on several lines. */
export function mountFailure({ exitCode, arguments: args, output }: MountError): string {
  return `mount failed: exit status ${exitCode}\nMounting command: mount\nMounting arguments: ${args.join(" ")}\nOutput: ${output}\n`;
}
