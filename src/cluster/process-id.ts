/** The file that tells which process runs a data directory: its number, and when it started, since numbers are used again. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const fileOf = (dataDir: string) => join(dataDir, "coracle.pid");

export async function writeProcessId(dataDir: string): Promise<void> {
  await writeFile(fileOf(dataDir), `${process.pid} ${await startOf(process.pid)}\n`, { mode: 0o600 });
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
  const [, pid, start] = /^([1-9]\d*) (\d+)\n$/.exec(text) ?? [];
  return pid !== undefined && (await startOf(Number(pid))) === start ? Number(pid) : undefined;
}

/** Throws when a process runs the data directory. */
export async function requireNoProcess(dataDir: string): Promise<void> {
  const running = await readProcessId(dataDir);
  if (running !== undefined) throw new Error(`process ${running} already runs ${dataDir}: stop it with \`coracle down --data-dir ${dataDir}\``);
}

export async function removeProcessId(dataDir: string): Promise<void> {
  await rm(fileOf(dataDir), { force: true });
}

/** When a process started, in ticks since the machine did (proc_pid_stat(5), field 22); undefined when there is none, or only its remains. */
async function startOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The second field, the program's name in parentheses, may hold spaces and parentheses itself.
  const [state, ...fields] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "" ? undefined : fields[18];
}
