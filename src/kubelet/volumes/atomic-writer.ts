/**
 * Writes a set of files so that readers see the old set or the new one, never a mixture (documentation page "Projected Volumes"): the
 * files lie in a folder named by time, `..data` is a link to it that is exchanged at once, and each name in the volume links through it.
 */
import { chmod, chown, lstat, mkdir, readdir, readFile, readlink, rename, rm, stat, symlink, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { VolumeFile } from "./payload.ts";

/** Returns whether anything changed. `group`: owner group of all files, which may then read them. */
export async function writeAtomically(directory: string, files: readonly VolumeFile[], context: { nowMs: number; group?: number }): Promise<boolean> {
  const current = await readlink(join(directory, dataLink)).catch(() => undefined);
  if (current !== undefined && (await isSame(join(directory, current), files))) return false;
  const folder = await writeFolder(directory, files, context);
  const temporary = join(directory, `${dataLink}_tmp`);
  await rm(temporary, { force: true });
  await symlink(folder, temporary);
  await rename(temporary, join(directory, dataLink));
  await linkNames(directory, files);
  if (current !== undefined) await rm(join(directory, current), { recursive: true, force: true });
  return true;
}

const dataLink = "..data";

async function writeFolder(directory: string, files: readonly VolumeFile[], { nowMs, group }: { nowMs: number; group?: number }): Promise<string> {
  const stamp = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, "_").replace("T", "_");
  let folder = `..${stamp}.${nowMs % 1000}`;
  for (let tries = 0; ; tries++) {
    try {
      await mkdir(join(directory, folder));
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      folder = `..${stamp}.${nowMs % 1000}_${tries}`;
    }
  }
  await chmod(join(directory, folder), 0o755);
  for (const file of files) {
    const path = join(directory, folder, file.path);
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
    await writeFile(path, file.data);
    const canOwn = process.getuid?.() === 0;
    if (canOwn && (group !== undefined || file.uid !== undefined)) await chown(path, file.uid ?? 0, group ?? 0);
    await chmod(path, group === undefined ? file.mode : file.mode | 0o440);
  }
  return folder;
}

/** One link for each first part of a path; links of names that are gone are taken away. */
async function linkNames(directory: string, files: readonly VolumeFile[]): Promise<void> {
  const names = new Set(files.map(({ path }) => path.split("/")[0]!));
  for (const name of await readdir(directory)) if (!name.startsWith("..") && !names.has(name)) await unlink(join(directory, name));
  for (const name of names) {
    const isThere = await lstat(join(directory, name)).then(
      () => true,
      () => false,
    );
    if (!isThere) await symlink(join(dataLink, name), join(directory, name));
  }
}

async function isSame(folder: string, files: readonly VolumeFile[]): Promise<boolean> {
  const present = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  if (present.filter((entry) => entry.isFile()).length !== files.length) return false;
  for (const file of files) {
    const path = join(folder, file.path);
    const data = await readFile(path).catch(() => undefined);
    if (data === undefined || !data.equals(file.data)) return false;
    if (((await stat(path)).mode & 0o777 & file.mode) !== file.mode) return false;
  }
  return true;
}
