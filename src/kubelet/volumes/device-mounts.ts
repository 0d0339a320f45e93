/** Mounts block devices; an empty one gets a file system first. Nothing that holds data is ever formatted. */
import { mkdir, realpath } from "node:fs/promises";
import { MountError } from "../../host/index.ts";
import type { Mounts, Programs } from "../../host/index.ts";
import { mountFailure } from "./plugins/nfs.ts";
import { VolumeError } from "./volume.ts";

export interface DeviceMountOptions {
  readonly mounts: Mounts;
  readonly programs: Programs;
  /** Of a new file system; ext4 unless given. */
  readonly fsType?: string;
  readonly options: readonly string[];
}

/** Mounts `device` at `mountPoint`, which is made; does nothing when it is mounted. Throws a `VolumeError`. */
export async function mountDevice(device: string, mountPoint: string, options: DeviceMountOptions): Promise<void> {
  const { mounts, programs } = options;
  if ((await mounts.list()).some((mount) => mount.mountPoint === mountPoint)) return;
  const real = await realpath(device);
  await mkdir(mountPoint, { recursive: true, mode: 0o750 });
  const present = await fileSystemOf(real, programs);
  if (present === undefined) await format(real, options.fsType ?? "ext4", programs);
  const type = present ?? options.fsType ?? "ext4";
  await mounts.mount({ type, source: real, mountPoint, options: ["defaults", ...options.options] }).catch((error: unknown) => {
    throw error instanceof MountError ? new VolumeError(mountFailure(error), { operation: "MountVolume.MountDevice", cause: error }) : error;
  });
}

/** Undefined for a device without any signature; blkid(8) then ends with 2. Throws when it cannot tell. */
async function fileSystemOf(device: string, programs: Programs): Promise<string | undefined> {
  const { exitCode, stdout, stderr } = await programs.run({
    command: "blkid",
    args: ["-p", "-s", "TYPE", "-s", "PTTYPE", "-o", "export", device],
    timeoutMs: 30_000,
  });
  if (exitCode === 2) return undefined;
  const type = /^TYPE=(.+)$/m.exec(stdout.toString())?.[1];
  if (exitCode === 0 && type !== undefined) return type;
  const why = exitCode === 0 ? "it holds a partition table" : stderr.toString().trim();
  throw new VolumeError(`failed to mount unformatted volume ${device}: ${why}`, { operation: "MountVolume.MountDevice" });
}

async function format(device: string, fsType: string, programs: Programs): Promise<void> {
  const isExt = /^ext[234]$/.test(fsType);
  const { exitCode, stdout, stderr } = await programs.run({ command: `mkfs.${fsType}`, args: isExt ? ["-F", "-m0", device] : [device], timeoutMs: 600_000 });
  if (exitCode === 0) return;
  throw new VolumeError(`formatting ${device} as ${fsType} failed: ${stdout.toString()}${stderr.toString()}`.trim(), { operation: "MountVolume.MountDevice" });
}
