/**
 * Removes what volumes were mounted on. Never with what is in it: a mount that was overlooked would lose its data. The kernel refuses to
 * remove a directory that is mounted on or not empty, so that the caller can try again.
 */
import { readdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";

/** A directory that is empty, or a file; nothing when it is gone. */
export async function removeMountPoint(path: string): Promise<void> {
  await rmdir(path)
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTDIR") throw error;
      return unlink(path);
    })
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
}

/** The mount points that lie `depth` levels below a directory of ours. */
export async function removeMountPointsBelow(directory: string, depth: number): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return [];
  });
  for (const name of names) await (depth <= 1 ? removeMountPoint(join(directory, name)) : removeMountPointsBelow(join(directory, name), depth - 1));
}
