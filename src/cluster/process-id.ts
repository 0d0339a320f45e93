/**
 * The files that tell which process has a data directory: its number, and when it started, since numbers are used again. `coracle.lock` is
 * there from the first moment on, so that of two that start at once one is refused; `coracle.pid` once the process is ready.
 */
import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const fileOf = (dataDir: string) => join(dataDir, "coracle.pid");
const lockOf = (dataDir: string) => join(dataDir, "coracle.lock");

export async function writeProcessId(dataDir: string): Promise<void> {
  await writeFile(fileOf(dataDir), await ownText(), { mode: 0o600 });
}

/** The process that runs the data directory, or undefined when none does. */
export function readProcessId(dataDir: string): Promise<number | undefined> {
  return readRunning(fileOf(dataDir));
}

/** Takes the data directory for this process until the lock is disposed of. Throws when another process has it. */
export async function lockDataDirectory(dataDir: string): Promise<AsyncDisposable> {
  const path = lockOf(dataDir);
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, await ownText(), { mode: 0o600 });
    while (!(await linked(draft, path))) {
      const running = await readRunning(path);
      if (running !== undefined) throw taken(running, dataDir);
      await removeStale(path);
    }
  } finally {
    await rm(draft, { force: true });
  }
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}

/** Takes a lock away whose process is gone; one that another process has taken meanwhile comes back. */
async function removeStale(path: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  if ((await readRunning(aside)) !== undefined) await linked(aside, path);
  await rm(aside, { force: true });
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

const ownText = async () => `${process.pid} ${await startOf(process.pid)}\n`;

async function readRunning(path: string): Promise<number | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const [, pid, start] = /^([1-9]\d*) (\d+)\n$/.exec(text) ?? [];
  return pid !== undefined && (await startOf(Number(pid))) === start ? Number(pid) : undefined;
}

/** Throws when a process runs the data directory. */
export async function requireNoProcess(dataDir: string): Promise<void> {
  const running = (await readRunning(lockOf(dataDir))) ?? (await readProcessId(dataDir));
  if (running !== undefined) throw taken(running, dataDir);
}

function taken(running: number, dataDir: string): Error {
  return new Error(`process ${running} already runs ${dataDir}: stop it with \`coracle down --data-dir ${dataDir}\``);
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
