/**
 * Parts of volumes for containers (API fields `subPath`, `subPathExpr`). The containers of the volume may be exchanging directories for
 * links to anywhere meanwhile: what was checked is kept open and bind-mounted by its open file, never by its name.
 */
import { chmod, constants, mkdir, open, realpath, stat, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Mounts } from "../../host/index.ts";
import { entryPath, openEntry, openRoot, sharedEntryPath } from "./safe-files.ts";

export interface SubPath {
  readonly volumePath: string;
  /** Relative, without `..`. */
  readonly subPath: string;
}

/** Makes the directories of the sub path that are missing, with the volume's own mode. Rejects when it leads out of the volume. */
export async function makeSubPath({ volumePath, subPath }: SubPath): Promise<void> {
  const root = await realpath(volumePath);
  const mode = (await stat(root)).mode & 0o7777;
  const missing: string[] = [];
  let present = join(root, subPath);
  let real = await resolved(present);
  while (real === undefined) {
    missing.unshift(present.slice(dirname(present).length + 1));
    present = dirname(present);
    real = await resolved(present);
  }
  let directory = await openBelow(root, real);
  try {
    for (const name of missing) {
      const path = `${entryPath(directory)}/${name}`;
      const isNew = await mkdir(path).then(() => true, unlessExisting);
      const inner = await openEntry(directory, name);
      await directory.close();
      directory = inner;
      if (!(await inner.stat()).isDirectory()) throw new Error(`${name} is not a directory`);
      if (isNew) await chmod(entryPath(inner), mode);
    }
  } finally {
    await directory.close();
  }
}

/** Bind-mounts the sub path at `target`, unless that was done before. Rejects when it leads out of the volume. */
export async function bindSubPath({ volumePath, subPath }: SubPath, target: string, mounts: Mounts): Promise<void> {
  const root = await realpath(volumePath);
  await using source = await openBelow(root, await realpath(join(root, subPath)));
  const wanted = await source.stat();
  const isMounted = (await mounts.list()).some(({ mountPoint }) => mountPoint === target);
  if (isMounted) {
    const current = await stat(target);
    if (current.dev === wanted.dev && current.ino === wanted.ino) return;
    // The volume holds another file of this name by now.
    await mounts.unmount(target);
  }
  await mkdir(wanted.isDirectory() ? target : dirname(target), { recursive: true, mode: 0o750 });
  if (!wanted.isDirectory()) await writeFile(target, "", { flag: "a", mode: 0o640 });
  await mounts.bind(sharedEntryPath(source), target, { isExact: true });
}

/** The sub path where nothing can be mounted: as it is now. */
export async function plainSubPath({ volumePath, subPath }: SubPath): Promise<string> {
  const root = await realpath(volumePath);
  const made = await mkdir(join(root, subPath), { recursive: true }).catch(unlessExisting);
  const real = await realpath(join(root, subPath));
  assertInside(root, real);
  if (typeof made === "string") await chmod(real, (await stat(root)).mode & 0o7777);
  return real;
}

/** The text of a file in the volume; undefined when there is none. Rejects when it is too large, no plain file, or leads out of the volume. */
export async function readInside({ volumePath, subPath }: SubPath, limitBytes: number): Promise<string | undefined> {
  const root = await realpath(volumePath);
  const real = await resolved(join(root, subPath));
  if (real === undefined) return undefined;
  assertInside(root, real);
  if (process.platform !== "linux") return readText(real, limitBytes);
  await using file = await openBelow(root, real);
  return await readText(entryPath(file), limitBytes);
}

async function readText(path: string, limitBytes: number): Promise<string> {
  // A pipe would be waited for.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) throw new Error("it is not a regular file");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(limitBytes + 1), 0, limitBytes + 1, 0);
  if (bytesRead > limitBytes) throw new Error(`it is larger than ${limitBytes} bytes`);
  return buffer.toString("utf8", 0, bytesRead);
}

/** `real` has no links in it, as of a moment ago. */
async function openBelow(root: string, real: string): Promise<FileHandle> {
  assertInside(root, real);
  let current = await openRoot(root);
  try {
    for (const name of relative(root, real).split("/")) {
      if (name === "") continue;
      const inner = await openEntry(current, name);
      await current.close();
      current = inner;
      if ((await inner.stat()).isSymbolicLink()) throw new Error(`${name} has become a link`);
    }
    return current;
  } catch (error) {
    await current.close();
    throw error;
  }
}

function assertInside(root: string, real: string): void {
  if (real !== root && !real.startsWith(`${root}/`)) throw new Error("it leads out of the volume");
}

function resolved(path: string): Promise<string | undefined> {
  return realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

function unlessExisting(error: NodeJS.ErrnoException): false {
  if (error.code !== "EEXIST" && error.code !== "ENOTDIR") throw error;
  return false;
}
