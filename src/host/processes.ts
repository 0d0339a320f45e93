/** Processes of the machine, from /proc (proc_pid_stat(5)). */
import { readdir, readFile } from "node:fs/promises";

export interface ProcessInfo {
  readonly pid: number;
  readonly parentPid: number;
  readonly processGroup: number;
  /** With the pid, tells a process from a later one of the same number. In clock ticks since boot. */
  readonly startTicks: number;
  /** User and system time, of children that ended too, in milliseconds. */
  readonly cpuMs: number;
  readonly residentBytes: number;
  /** A zombie has ended but was not waited for. */
  readonly isZombie: boolean;
}

/** Undefined when there is no such process. */
export async function readProcess(pid: number): Promise<ProcessInfo | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return text === undefined ? undefined : parseProcessStat(text);
}

/** The process and its descendants, as far as they still are one tree. */
export async function readProcessTree(pid: number): Promise<ProcessInfo[]> {
  const found: ProcessInfo[] = [];
  const waiting = [pid];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const info = await readProcess(next);
    if (info === undefined) continue;
    found.push(info);
    const children = await readFile(`/proc/${next}/task/${next}/children`, "utf8").catch(() => "");
    waiting.push(
      ...children
        .split(" ")
        .filter((text) => text !== "")
        .map(Number),
    );
  }
  return found;
}

/** The processes whose command line, its words, is as wanted. */
export async function findProcesses(isWanted: (words: readonly string[]) => boolean): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const words = await readCommandLine(Number(name));
    if (words.length > 0 && isWanted(words)) found.push(Number(name));
  }
  return found;
}

/** The words of its command line; none when there is no such process. */
export async function readCommandLine(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return text === "" ? [] : text.split("\0");
}

/** Ends a process at once; one that is gone already is no fault. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

const ticksPerSecond = 100;
const pageBytes = 4096;

/** The command's name, second, is in parentheses and may hold anything, so fields are counted from the last one. */
export function parseProcessStat(text: string): ProcessInfo {
  const close = text.lastIndexOf(")");
  const fields = text.slice(close + 2).split(" ");
  const field = (number: number) => Number(fields[number - 3]);
  return {
    pid: Number.parseInt(text, 10),
    parentPid: field(4),
    processGroup: field(5),
    startTicks: field(22),
    cpuMs: ((field(14) + field(15) + field(16) + field(17)) * 1000) / ticksPerSecond,
    residentBytes: field(24) * pageBytes,
    isZombie: fields[0] === "Z",
  };
}
