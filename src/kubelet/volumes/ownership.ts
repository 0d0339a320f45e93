/**
 * Gives a volume to a group (API fields `fsGroup`, `fsGroupChangePolicy`): files become the group's, readable and writable by it, and new
 * ones in its directories become the group's, too. Other pods may be changing the volume meanwhile, so no link is followed.
 */
import { chmod, chown, readdir } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { entryPath, openEntry, openRoot } from "./safe-files.ts";

export interface VolumeOwnership {
  readonly group: number;
  readonly isReadOnly: boolean;
  /** Look at the top directory only: when that is as it should be, so is the rest. */
  readonly isOnRootMismatch: boolean;
}

/** Does nothing for those who are not root. */
export async function giveToGroup(path: string, ownership: VolumeOwnership): Promise<void> {
  if (process.getuid?.() !== 0 || process.platform !== "linux") return;
  await using root = await openRoot(path);
  if (ownership.isOnRootMismatch && (await isGiven(root, ownership))) return;
  await give(root, ownership, 0);
}

async function isGiven(root: FileHandle, ownership: VolumeOwnership): Promise<boolean> {
  const { gid, mode } = await root.stat();
  const wanted = bitsOf(ownership, true);
  return gid === ownership.group && (mode & wanted) === wanted;
}

/** The top last: only when all is done does it look done. */
async function give(handle: FileHandle, ownership: VolumeOwnership, depth: number): Promise<void> {
  if (depth > maxDepth) throw new Error(`directories are nested deeper than ${maxDepth}`);
  const stats = await handle.stat();
  if (stats.isDirectory()) {
    for (const name of await readdir(entryPath(handle))) {
      await using entry = await openEntry(handle, name).catch(unlessGone);
      if (entry !== undefined) await give(entry, ownership, depth + 1);
    }
  }
  if (stats.isSymbolicLink()) return;
  // The paths under /proc lead to what is open and nowhere else. Changing the owner may take bits of the mode away, so it comes first.
  if (stats.gid !== ownership.group) await chown(entryPath(handle), stats.uid, ownership.group);
  const wanted = (stats.mode & 0o7777) | bitsOf(ownership, stats.isDirectory());
  if (wanted !== (stats.mode & 0o7777)) await chmod(entryPath(handle), wanted);
}

/** Each level holds a file open. */
const maxDepth = 500;

function bitsOf({ isReadOnly }: VolumeOwnership, isDirectory: boolean): number {
  return (isReadOnly ? 0o440 : 0o660) | (isDirectory ? 0o2110 : 0);
}

function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
