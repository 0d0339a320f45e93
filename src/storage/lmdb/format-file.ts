/** The file that says that a directory holds an embedded store, and in which format. Looking at it loads nothing of the store itself. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { syncDirectory } from "./durable-file.ts";

export const formatFile = "format";
export const formatVersion = 1;

/** Whether an embedded store lies there, of whatever version. */
export async function holdsStore(directory: string): Promise<boolean> {
  const text = await readFile(join(directory, formatFile), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(error.code ?? "")) return "";
    throw error;
  });
  return /^coracle-store \d+\n$/.test(text);
}

/** Says, durably, which format the directory has. */
export async function writeFormat(directory: string): Promise<void> {
  const path = join(directory, formatFile);
  const draft = `${path}.new-${process.pid}`;
  await writeFile(draft, `coracle-store ${formatVersion}\n`, { mode: 0o600, flush: true });
  await rename(draft, path);
  await syncDirectory(directory);
}
