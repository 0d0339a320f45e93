/** The file that tells which process runs a data directory. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const fileOf = (dataDir: string) => join(dataDir, "coracle.pid");

export async function writeProcessId(dataDir: string): Promise<void> {
  await writeFile(fileOf(dataDir), `${process.pid}\n`, { mode: 0o600 });
}

/** The process that runs the data directory, or undefined when none does. */
export async function readProcessId(dataDir: string): Promise<number | undefined> {
  let text: string;
  try {
    text = await readFile(fileOf(dataDir), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const pid = Number(text);
  return Number.isInteger(pid) && pid > 0 && (await isOurs(pid)) ? pid : undefined;
}

export async function removeProcessId(dataDir: string): Promise<void> {
  await rm(fileOf(dataDir), { force: true });
}

/** Numbers are used again: only a process whose command line names us counts. */
async function isOurs(pid: number): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, "utf8")).includes("coracle");
  } catch {
    // No such process, or none that we may look at.
    return false;
  }
}
