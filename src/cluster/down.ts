/** `coracle down`: ends the process that runs a data directory. */
import { resolve } from "node:path";
import { sleep, systemClock } from "../base/clock.ts";
import { parseArguments } from "./arguments.ts";
import { readProcessId, removeProcessId } from "./process-id.ts";
import { defaultDataDir } from "./up-options.ts";

/** How long the process may take to stop in order. */
const stopMs = 30_000;

export async function runDown(words: readonly string[]): Promise<void> {
  const { options } = parseArguments(words, { "data-dir": "value" });
  const dataDir = resolve(options.get("data-dir") ?? defaultDataDir());
  await endProcess(dataDir);
}

/** Asks the process to stop and waits for it. Resolves when none runs. */
export async function endProcess(dataDir: string): Promise<void> {
  const clock = systemClock({ keepAlive: true });
  const pid = await readProcessId(dataDir);
  if (pid === undefined) return;
  process.kill(pid, "SIGTERM");
  const deadlineMs = clock.monotonicMs() + stopMs;
  while ((await readProcessId(dataDir)) === pid) {
    if (clock.monotonicMs() > deadlineMs) throw new Error(`process ${pid} does not stop: end it with \`kill -9 ${pid}\` and run this again`);
    await sleep(clock, 100);
  }
  await removeProcessId(dataDir);
}
