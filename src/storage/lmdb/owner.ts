import { readFileSync } from "node:fs";

/** This process as recorded in a directory that it has open: its pid and, since pids come again, when it and the machine started. */
export function thisProcess(): string {
  return describe(process.pid);
}

/** Whether the process that `recorded` names still runs; gives its pid. */
export function runningOwner(recorded: string | undefined): number | undefined {
  if (recorded === undefined) return undefined;
  const pid = Number.parseInt(recorded, 10);
  return isAlive(pid) && describe(pid) === recorded ? pid : undefined;
}

function describe(pid: number): string {
  return `${pid} ${processStat(pid)?.startTime ?? "-"} ${bootId()}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Someone else's process is alive too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  // A killed process that nobody has waited for yet holds nothing any more.
  return processStat(pid)?.state !== "Z";
}

/** State and start time (in ticks since boot) from /proc/PID/stat; undefined where there is none. */
function processStat(pid: number): { state: string; startTime: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The command's name is in parentheses and may contain anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0]!, startTime: fields[19]! };
  } catch {
    return undefined;
  }
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return "-";
  }
}
