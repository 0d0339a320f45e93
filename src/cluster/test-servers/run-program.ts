import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { SignalRelay } from "./signal-relay.ts";

/**
 * Runs a program on our own input and output, with `added` in its environment, and hands it our signals. Resolves with its exit code as a
 * shell tells it: 128 and the signal's number when a signal ended it, 127 when there is none of this name, 126 when it cannot be run.
 */
export function runProgram(words: readonly string[], added: Readonly<Record<string, string>>, signals: SignalRelay): Promise<number> {
  const [command, ...args] = words;
  return new Promise((resolve) => {
    const child = spawn(command!, args, { stdio: "inherit", env: { ...process.env, ...added } });
    signals.relayTo(child);
    child.on("error", (error: NodeJS.ErrnoException) => {
      process.stderr.write(`coracle: cannot run ${command}: ${error.code === "ENOENT" ? "there is no such program" : error.message}\n`);
      resolve(error.code === "ENOENT" ? 127 : 126);
    });
    child.on("exit", (code, signal) => resolve(code ?? exitCodeOfSignal(signal!)));
  });
}

export function exitCodeOfSignal(name: NodeJS.Signals): number {
  return 128 + constants.signals[name];
}
