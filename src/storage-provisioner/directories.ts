/** The directories that volumes are: one each, all in one folder. */
import { chmod, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface VolumeDirectories {
  /** Where the volume of this name lies, made or not. */
  pathOf(name: string): string;
  /** Makes it, for whatever user a container has; one that is there stays as it is. */
  make(path: string): Promise<void>;
  /** Removes it and all that is in it. Throws for a path that is none of ours. */
  remove(path: string): Promise<void>;
}

export function localDirectories(root: string): VolumeDirectories {
  return {
    pathOf: (name) => join(root, name),
    make: async (path) => {
      await mkdir(root, { recursive: true, mode: 0o711 });
      const isNew = await mkdir(path).then(() => true, unlessExisting);
      if (isNew) await chmod(path, 0o777);
    },
    remove: async (path) => {
      // Whoever may write PersistentVolumes could name any directory of the machine.
      if (dirname(path) !== root || join(path) !== path) throw new Error(`${path} is not a directory of this provisioner`);
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** For simulated nodes, whose pods have no files. */
export function noDirectories(root: string): VolumeDirectories {
  return { pathOf: (name) => join(root, name), make: async () => undefined, remove: async () => undefined };
}

function unlessExisting(error: NodeJS.ErrnoException): false {
  if (error.code !== "EEXIST") throw error;
  return false;
}
