/** `coracle snapshot save|restore FILE`: the embedded store's content, saved while it is in use or not, and made a store again. */
import { createReadStream } from "node:fs";
import { access, open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { Client, TlsTransport, connectionSettings, parseKubeconfig, readBody } from "../../client/index.ts";
import { SnapshotError, openStore, readSnapshot, writeSnapshot } from "../../storage/index.ts";
import type { SnapshotSummary } from "../../storage/index.ts";
import { restoreSnapshot } from "../../storage/snapshot/restore.ts";
import { UsageError, parseArguments } from "./arguments.ts";
import { openDataDirectory, removeEmptyDirectory, requireOwner } from "../files/data-directory.ts";
import { commandEnvironment } from "../environment.ts";
import type { Environment } from "../environment.ts";
import { readProcessId } from "../process-id.ts";
import { defaultDataDir } from "./up-options.ts";

const usage = "usage: coracle snapshot save FILE | restore FILE   [--data-dir DIR]";

export async function runSnapshot(words: readonly string[]): Promise<void> {
  const { operands, options } = parseArguments(words, { "data-dir": "value" });
  const [action, file, ...rest] = operands;
  if ((action !== "save" && action !== "restore") || file === undefined || rest.length > 0) throw new UsageError(usage);
  const dataDir = resolve(options.get("data-dir") ?? defaultDataDir());
  await requireOwner(dataDir);
  const path = resolve(file);
  if (action === "save") {
    const { revision, count } = await save(commandEnvironment(), dataDir, path);
    process.stdout.write(`Saved ${count} keys at revision ${revision} to ${path}.\n`);
  } else {
    const { revision, count } = await restore(dataDir, path);
    process.stdout.write(`Restored ${count} keys of revision ${revision}: \`coracle up --data-dir ${dataDir}\` goes on from there.\n`);
  }
}

/** The file appears under its name when it is whole, on the disk, and has been read back. It holds secrets: its owner alone may read it. */
async function save(environment: Environment, dataDir: string, path: string): Promise<SnapshotSummary> {
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}`);
  try {
    await using chunks = await storeContent(environment, dataDir);
    await using file = await open(draft, "wx", 0o600);
    for await (const chunk of chunks.bytes) await file.writeFile(chunk);
    await file.sync();
    const summary = await inspect(draft, path);
    await rename(draft, path);
    return summary;
  } finally {
    await rm(draft, { force: true });
  }
}

async function restore(dataDir: string, path: string): Promise<SnapshotSummary> {
  const running = await readProcessId(dataDir);
  if (running !== undefined) throw new Error(`process ${running} runs ${dataDir}: stop it first with \`coracle down --data-dir ${dataDir}\``);
  await access(path).catch((cause: unknown) => {
    throw new Error(`${path} cannot be read: name a file that \`coracle snapshot save\` wrote`, { cause });
  });
  const { isNew } = await openDataDirectory(dataDir);
  try {
    return await named(path, () => restoreSnapshot(join(dataDir, "store"), createReadStream(path)));
  } catch (error) {
    if (isNew) await removeEmptyDirectory(dataDir);
    throw error;
  }
}

interface Content extends AsyncDisposable {
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** From the server when one runs on the data directory, which alone may touch its store; or else from the store itself. */
async function storeContent({ clock, log }: Environment, dataDir: string): Promise<Content> {
  if ((await readProcessId(dataDir)) !== undefined) return serverContent(clock, dataDir);
  const directory = join(dataDir, "store");
  await access(directory).catch((cause: unknown) => {
    throw new Error(`there is no store in ${dataDir}: name the data directory with --data-dir`, { cause });
  });
  const store = await openStore({ backend: "lmdb", clock, logger: log, directory });
  return { bytes: writeSnapshot(store), [Symbol.asyncDispose]: () => store.close() };
}

async function serverContent(clock: Clock, dataDir: string): Promise<Content> {
  const settings = await connectionSettings(parseKubeconfig(await readFile(join(dataDir, "kubeconfig"), "utf8")), (name) => readFile(name));
  const transport = new TlsTransport({ ...settings, clock });
  const client = new Client({ transport: (request) => transport.send(request), clock, userAgent: "coracle" });
  const { status, body } = await client.send({ method: "GET", path: "/coracle/v1/snapshot", query: "", headers: {}, body: new Uint8Array() });
  if (status === 200 && body.kind === "stream") return { bytes: body.chunks, [Symbol.asyncDispose]: () => transport.close() };
  const text = Buffer.from(await readBody(body)).toString();
  await transport.close();
  throw new Error(text.trim() || `the server answers ${status}`);
}

/** Reads a snapshot to its end. */
function inspect(draft: string, path: string): Promise<SnapshotSummary> {
  return named(path, async () => {
    const versions = readSnapshot(createReadStream(draft));
    for (;;) {
      const next = await versions.next();
      if (next.done === true) return next.value;
    }
  });
}

/** Puts the file's name in front of what is wrong with it. */
async function named<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw error instanceof SnapshotError ? new Error(`${path} ${error.message}`, { cause: error }) : error;
  }
}
