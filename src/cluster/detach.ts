/** `coracle up --detach` and `coracle logs`: the same process in the background, its output in DIR/coracle.log. */
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdir, open, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { sleep } from "../base/clock.ts";
import { parseArguments } from "./arguments.ts";
import { commandEnvironment } from "./environment.ts";
import { readProcessId } from "./process-id.ts";
import { defaultDataDir } from "./up-options.ts";
import type { UpOptions } from "./up-options.ts";

const logFile = (dataDir: string) => join(dataDir, "coracle.log");

/** Starts `up` in the background and returns when it is ready; its last line tells why when it is not to be. */
export async function runDetached(words: readonly string[], options: UpOptions): Promise<void> {
  const { clock } = commandEnvironment();
  const running = await readProcessId(options.dataDir);
  if (running !== undefined) throw new Error(`process ${running} already runs ${options.dataDir}: stop it with \`coracle down --data-dir ${options.dataDir}\``);
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const log = await open(logFile(options.dataDir), "w", 0o600);
  const child = spawn(process.execPath, [process.argv[1]!, ...words.filter((word) => !word.startsWith("--detach"))], { detached: true, stdio: ["ignore", log.fd, log.fd] });
  await log.close();
  let exitCode: number | null | undefined;
  child.on("exit", (code) => (exitCode = code));
  for (;;) {
    if (exitCode !== undefined) throw new Error((await lastLine(logFile(options.dataDir))).replace(/^coracle: /, ""));
    if ((await readProcessId(options.dataDir)) === child.pid) break;
    await sleep(clock, 50);
  }
  child.unref();
  process.stdout.write(`Kubernetes is ready (process ${child.pid}).\n\n  export KUBECONFIG=${join(options.dataDir, "kubeconfig")}\n`);
}

export async function runLogs(words: readonly string[]): Promise<void> {
  const { options } = parseArguments(words, { "data-dir": "value" });
  const file = logFile(resolve(options.get("data-dir") ?? defaultDataDir()));
  try {
    await pipeline(createReadStream(file), process.stdout, { end: false });
  } catch (error) {
    throw new Error(`cannot read ${file} (${(error as Error).message}): only \`coracle up --detach\` keeps a log`, { cause: error });
  }
}

async function lastLine(file: string): Promise<string> {
  return (await readFile(file, "utf8")).trim().split("\n").at(-1) ?? "it ended without a word";
}
