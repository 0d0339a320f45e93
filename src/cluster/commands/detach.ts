/** `coracle up --detach` and `coracle logs`: the same process in the background, its output in DIR/coracle.log. */
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { sleep } from "../../base/clock.ts";
import { UsageError } from "./arguments.ts";
import { dataDirectoryOf, logName } from "../files/data-directory.ts";
import { commandEnvironment } from "../environment.ts";
import { readProcessId, requireNoProcess } from "../process-id.ts";
import type { UpOptions } from "./up-options.ts";

/** Starts `up` in the background and returns when it is ready; throws its last line when it is not to be. */
export async function runDetached(words: readonly string[], options: UpOptions): Promise<void> {
  const { clock } = commandEnvironment();
  await requireNoProcess(options.dataDir);
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  // Held open, since a start that fails may take the file with it.
  await using log = await open(join(options.dataDir, logName), "w+", 0o600);
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...words.filter((word) => !/^--?detach(=|$)/.test(word))], {
    detached: true,
    stdio: ["ignore", log.fd, log.fd],
  });
  let exitCode: number | null | undefined;
  child.on("exit", (code) => (exitCode = code));
  while ((await readProcessId(options.dataDir).catch(() => undefined)) !== child.pid) {
    if (exitCode !== undefined) {
      const said = (await lastLine(log)).replace(/^coracle: /, "");
      throw exitCode === 2 ? new UsageError(said) : new Error(said);
    }
    await sleep(clock, 50);
  }
  child.unref();
  process.stdout.write(`Kubernetes is ready (process ${child.pid}).\n\n  export KUBECONFIG=${join(options.dataDir, "kubeconfig")}\n`);
}

export async function runLogs(words: readonly string[]): Promise<void> {
  const file = join(dataDirectoryOf(words), logName);
  try {
    await pipeline(createReadStream(file), process.stdout, { end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new Error(`there is no ${file}: only \`coracle up --detach\` keeps a log`, { cause: error });
    throw error;
  }
}

async function lastLine(log: FileHandle): Promise<string> {
  const { size } = await log.stat();
  const { buffer } = await log.read(Buffer.alloc(size), 0, size, 0);
  return buffer.toString("utf8").trim().split("\n").at(-1) || "it ended without a word";
}
