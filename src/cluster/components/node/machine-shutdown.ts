/**
 * Hears that the machine goes down: from systemd, which waits for us as long as our inhibitor holds, and by SIGPWR, which init systems and
 * power supplies send. Only where the kubelet's settings give its pods time to end.
 */
import { access } from "node:fs/promises";
import type { Log } from "../../../base/log.ts";
import { findOnPath } from "../../../host/index.ts";
import type { Programs, RunningProgram } from "../../../host/index.ts";

export interface MachineShutdownOptions {
  readonly programs: Programs;
  readonly log: Log;
  /** Resolves when the machine may go on. */
  onShutdown(): Promise<void>;
}

export async function watchMachineShutdown({ programs, log, onShutdown }: MachineShutdownOptions): Promise<AsyncDisposable> {
  const onSignal = () => void onShutdown();
  process.on("SIGPWR", onSignal);
  const inhibitor = await startInhibitor(programs, log);
  const watching = inhibitor === undefined ? undefined : follow(inhibitor, onShutdown);
  return {
    async [Symbol.asyncDispose]() {
      process.off("SIGPWR", onSignal);
      inhibitor?.kill("SIGTERM");
      await watching;
    },
  };
}

/** The lock lives as long as the program that systemd-inhibit runs: one that tells the signal which the lock delays. */
async function startInhibitor(programs: Programs, log: Log): Promise<RunningProgram | undefined> {
  const hasSystemd = await access("/run/systemd/system").then(
    () => true,
    () => false,
  );
  const path = process.env["PATH"] ?? "";
  if (!hasSystemd || (await findOnPath("systemd-inhibit", path)) === undefined || (await findOnPath("busctl", path)) === undefined) return undefined;
  const match = "type='signal',interface='org.freedesktop.login1.Manager',member='PrepareForShutdown'";
  const args = [
    "--what=shutdown",
    "--mode=delay",
    "--who=kubelet",
    "--why=Kubelet needs time to handle node shutdown",
    "busctl",
    "--system",
    "--json=short",
    `--match=${match}`,
    "monitor",
  ];
  return programs.start({ command: "systemd-inhibit", args }).catch((error: unknown) => {
    log.warn("Could not make systemd wait for pods at a shutdown", { error });
    return undefined;
  });
}

async function follow(inhibitor: RunningProgram, onShutdown: () => Promise<void>): Promise<void> {
  let rest = "";
  for await (const chunk of inhibitor.stdout) {
    const lines = (rest + Buffer.from(chunk).toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    if (!lines.some(isShutdownSignal)) continue;
    await onShutdown();
    inhibitor.kill("SIGTERM");
    return;
  }
}

/** A line of `busctl --json=short monitor`: the machine begins to go down (and does not give up going down). */
export function isShutdownSignal(line: string): boolean {
  try {
    const { member, payload } = JSON.parse(line) as { member?: string; payload?: { data?: unknown[] } };
    return member === "PrepareForShutdown" && payload?.data?.[0] === true;
  } catch {
    return false;
  }
}
