import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { coraclePath } from "./instance.ts";

/** Where the clients' programs and the chart lie. */
export const clients = path.resolve(import.meta.dirname, "..", "clients");

export const execute = promisify(execFile);

/** Runs a command against a cluster of its own, whose pods are local processes where logs and exec are wanted; resolves with its output. */
export async function runClient(runtime: "simulated" | "process", command: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await execute(coraclePath, ["test", "--runtime", runtime, "--", ...command], {
    timeout: 300_000,
    maxBuffer: 64 << 20,
    env: { ...process.env, ...env },
  });
  return stdout;
}
