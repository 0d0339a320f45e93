/**
 * Root file systems of images as read-only mounts, for volumes of type image. Done by containerd's `ctr`, since CRI can only from
 * containerd 2.1 on. A mount's snapshot is named by its directory and kept until it is unmounted, whatever becomes of the image.
 */
import { mkdir } from "node:fs/promises";
import type { Programs } from "../../host/programs.ts";
import type { Mounts } from "../../host/mounts.ts";

export interface ImageMounts {
  /** Mounts a present image at `directory`, which is made; does nothing when something is mounted there. */
  mount(imageName: string, directory: string): Promise<void>;
  /** Unmounts it and lets go of its files; does nothing when there is no mount. */
  unmount(directory: string): Promise<void>;
}

export interface ImageMountsOptions {
  readonly programs: Programs;
  readonly mounts: Mounts;
  readonly socketPath: string;
  readonly snapshotter?: string;
  readonly ctrPath?: string;
}

export function createImageMounts(options: ImageMountsOptions): ImageMounts {
  const { mounts, programs } = options;
  const snapshotter = options.snapshotter === undefined ? [] : ["--snapshotter", options.snapshotter];
  const ctr = async (...args: string[]) => {
    const { exitCode, stderr } = await programs.run({
      command: options.ctrPath ?? "ctr",
      args: ["--address", options.socketPath, "--namespace", "k8s.io", ...args],
      timeoutMs: 120_000,
    });
    if (exitCode !== 0) throw new Error(`ctr ${args.join(" ")}: ${stderr.toString().trim()}`);
  };
  const isMounted = async (directory: string) => (await mounts.list()).some(({ mountPoint }) => mountPoint === directory);
  const release = (directory: string) => ctr("snapshots", ...snapshotter, "remove", directory).catch(() => undefined); // there may be none
  return {
    mount: async (imageName, directory) => {
      if (await isMounted(directory)) return;
      await mkdir(directory, { recursive: true, mode: 0o755 });
      // Left by a mount that was cut short.
      await release(directory);
      await ctr("images", "mount", ...snapshotter, imageName, directory);
      // Otherwise its files are collected when the lease ends, after a day.
      await ctr("snapshots", ...snapshotter, "label", directory, "containerd.io/gc.root=mounted");
    },
    unmount: async (directory) => {
      if (!(await isMounted(directory))) return;
      await mounts.unmount(directory);
      await release(directory);
    },
  };
}
