/** The data directory: where it lies, and its making and removal. */
import { access, constants, mkdir, readdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { holdsStore } from "../../storage/index.ts";
import { UsageError, parseArguments } from "../commands/arguments.ts";
import { defaultDataDir } from "../commands/up-options.ts";

/** The directory that a command is about which knows no option but `--data-dir`. Throws UsageError. */
export function dataDirectoryOf(words: readonly string[]): string {
  const { command, options, operands } = parseArguments(words, { "data-dir": "value" });
  if (operands.length > 0)
    throw new UsageError(`unexpected word ${JSON.stringify(operands[0])}: \`coracle ${command} --data-dir ${operands[0]}\` takes a directory`);
  return resolve(options.get("data-dir") ?? defaultDataDir());
}

/** Throws when another user has made what lies in it: what that one runs, and where, cannot be told. */
export async function requireOwner(dataDir: string): Promise<void> {
  const { uid } = await stat(join(dataDir, "pki")).catch(unlessMissing);
  if (uid !== undefined && uid !== process.geteuid?.())
    throw new Error(`${dataDir} belongs to user ${uid}: run this as that user, or choose another directory with --data-dir`);
}

/** Makes the directory when it is missing. `isNew` when nothing lies in it: then a start that fails may remove what it made. */
export async function openDataDirectory(dataDir: string): Promise<{ isNew: boolean }> {
  await makeDirectory(dataDir);
  await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  await requireOwner(dataDir);
  return { isNew: (await readdir(dataDir)).every((name) => name === logName) };
}

/** With those above it. Node's own way to do so never ends where the file system takes no directories (`/proc`). */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    const above = dirname(path);
    if (code !== "ENOENT" || above === path) throw error;
    if ((await stat(above).catch(() => undefined)) !== undefined)
      throw new Error(`no directory can be made in ${above}: choose another directory with --data-dir`, { cause: error });
    await makeDirectory(above);
    await makeDirectory(path);
  }
}

/** Whether `up`, `join` or `snapshot restore` has made it, told by files that nobody else would name so. Throws when that cannot be told. */
export async function isDataDirectory(dataDir: string): Promise<boolean> {
  for (const file of [join("pki", "service-account.key"), joinedFile]) {
    try {
      await access(join(dataDir, file));
      return true;
    } catch (error) {
      if (!["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
  return holdsStore(join(dataDir, "store"));
}

/** Removes what is in it, and itself unless something is mounted on it or what it lies in is not ours. */
export async function removeDataDirectory(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) await rm(join(dataDir, name), { recursive: true, force: true });
  await removeEmptyDirectory(dataDir);
}

/** Removes a directory when it is there, empty and may be removed. */
export async function removeEmptyDirectory(directory: string): Promise<void> {
  await rmdir(directory).catch((error: unknown) => {
    if (!["ENOENT", "ENOTEMPTY", "EBUSY", "EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  });
}

function unlessMissing(error: NodeJS.ErrnoException): { readonly uid: undefined } {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return { uid: undefined };
  throw error;
}

/** What a detached instance says, in its data directory. */
export const logName = "coracle.log";

/** Which cluster a node of another machine has joined, in its data directory. */
export const joinedFile = "joined.json";
