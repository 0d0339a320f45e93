/** `coracle image load|ls|rm`: images of an instance's containerd. */
import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { sleep } from "../../base/clock.ts";
import { connectContainerd, createImageLoader } from "../../kubelet/index.ts";
import { UsageError, parseArguments } from "./arguments.ts";
import { runtimeDirectory } from "../components/node/node-runtime.ts";
import { commandEnvironment } from "../environment.ts";
import type { Environment } from "../environment.ts";
import { borrowPrograms } from "../shared-programs.ts";
import { readProcessId } from "../process-id.ts";
import { defaultDataDir } from "./up-options.ts";

const usage = "usage: coracle image load FILE | ls | rm NAME   [--data-dir DIR] [--containerd-socket PATH]";

export async function runImage(words: readonly string[]): Promise<void> {
  const { operands, options } = parseArguments(words, { "data-dir": "value", "containerd-socket": "value" });
  const [action = "", ...rest] = operands;
  const takes = { load: 1, ls: 0, rm: 1 }[action];
  if (takes === undefined || rest.length !== takes) throw new UsageError(usage);
  const environment = commandEnvironment();
  const dataDir = resolve(options.get("data-dir") ?? defaultDataDir());
  const socketPath = options.get("containerd-socket") ?? `${runtimeDirectory(dataDir)}/containerd.sock`;
  await requireSocket(socketPath, dataDir, environment);
  await using borrowed = borrowPrograms(environment);
  const images = connectContainerd({ socketPath, clock: environment.clock });
  let isThere = true;
  try {
    const loader = createImageLoader({ programs: borrowed.programs, images, clock: environment.clock, socketPath });
    if (action === "load") for (const name of await loader.loadImage(resolve(rest[0]!))) process.stdout.write(`${name}\n`);
    else if (action === "rm") isThere = await loader.removeImage(rest[0]!);
    else for (const image of await loader.listImages()) process.stdout.write(`${(image.repo_tags ?? []).join(" ") || image.id}\n`);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)} (containerd at ${socketPath})`, { cause: error });
  } finally {
    await images.close();
  }
  if (!isThere) throw new Error(`there is no image ${rest[0]!}: \`coracle image ls\` lists them`);
}

/** Waits up to 30 s for the socket while an instance runs: its containerd serves a little later than its API. Throws when there is none. */
async function requireSocket(socketPath: string, dataDir: string, { clock }: Environment): Promise<void> {
  for (const end = clock.monotonicMs() + 30_000; ; await sleep(clock, 50)) {
    const problem = await access(socketPath).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (problem === undefined) return;
    if (clock.monotonicMs() < end && (await readProcessId(dataDir)) !== undefined) continue;
    throw new Error(`no containerd answers at ${socketPath}: start \`coracle up\` with --runtime containerd first, or name its directory with --data-dir`, {
      cause: problem,
    });
  }
}
