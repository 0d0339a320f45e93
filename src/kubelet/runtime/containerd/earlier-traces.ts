/**
 * What a containerd that was killed had made and not yet noted down: shims, network namespaces, addresses of pods. Its successor does not
 * know them, so nobody would ever remove them. Before a containerd is started, all that is there is written into a file; once it serves,
 * what of that it does not know goes. What it begins itself stands in no such file, so it is never taken for a trace.
 */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Log } from "../../../base/log.ts";
import { findProcesses, killProcess, readCommandLine, readProcessTree } from "../../../host/processes.ts";
import type { Mounts } from "../../../host/mounts.ts";
import { isRuntimeNotFound } from "../cri.ts";

export interface EarlierTraces {
  /** Ids of the sandboxes whose shims run. */
  readonly shims: readonly string[];
  /** File names. */
  readonly networkNamespaces: readonly string[];
  /** Paths of the files in which the address plugin notes an address and whose it is. */
  readonly addresses: readonly string[];
}

export interface TracesOptions {
  /** Where the traces are noted. */
  readonly file: string;
  readonly stateDirectory: string;
  readonly socketPath: string;
  /** Of the address plugin (`host-local`); absent: addresses are not looked after. */
  readonly addressDirectory?: string;
  readonly mounts: Pick<Mounts, "unmount" | "unmountBelow">;
  readonly log: Log;
}

/** What of a runtime it takes to know whether something is its own. */
export interface KnownSandboxes {
  /** Their ids. */
  list(signal?: AbortSignal): Promise<readonly string[]>;
  /** Of the sandbox, "" for the machine's; rejects with reason `NotFound`. */
  networkNamespace(podSandboxId: string, signal?: AbortSignal): Promise<string>;
}

/** Notes all that is there. To be called while no containerd runs. */
export async function noteTraces(options: TracesOptions): Promise<void> {
  const shims = new Set((await findShims(options.socketPath)).map(({ id }) => id));
  await write(options, {
    shims: [...shims],
    networkNamespaces: await readdir(namespaceDirectory(options)).catch(() => []),
    addresses: await addressFiles(options),
  });
}

/**
 * Removes what was noted and `runtime` does not know. What it knows is its own from now on, but for shims: one that it could not connect
 * to outlives its sandbox, and is asked for again.
 */
export async function removeTraces(options: TracesOptions, runtime: KnownSandboxes, signal?: AbortSignal): Promise<void> {
  const traces = await read(options);
  if (traces === undefined) return;
  const known = new Set(await runtime.list(signal));
  const shims = (await findShims(options.socketPath)).filter(({ id }) => traces.shims.includes(id));
  for (const { id, pid } of shims) {
    if (known.has(id)) continue;
    options.log.info("Ended a shim that containerd does not know", { sandbox: id, pid });
    await killTree(pid);
    await removeBundle(options, id);
  }
  await removeNamespaces(options, traces.networkNamespaces, () => namespacesOf(known, runtime, signal));
  for (const path of traces.addresses) {
    const [owner = ""] = (await readFile(path, "utf8").catch(() => "")).split(/\s/);
    if (owner !== "" && !known.has(owner)) await rm(path, { force: true });
  }
  await write(options, { shims: [...new Set(shims.map(({ id }) => id))].filter((id) => known.has(id)), networkNamespaces: [], addresses: [] });
}

/** Ends all shims of the containerd with this socket, with what runs below them. */
export async function endShims(socketPath: string): Promise<void> {
  for (const { pid } of await findShims(socketPath)) await killTree(pid);
}

/** Also the short-lived ones that start or clean up after a shim: they act for the same sandbox. */
async function findShims(socketPath: string): Promise<{ id: string; pid: number }[]> {
  const pids = await findProcesses((words) => basename(words[0] ?? "").startsWith("containerd-shim") && words.includes(socketPath));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const words = await readCommandLine(pid);
      return { pid, id: words[words.indexOf("-id") + 1] ?? "" };
    }),
  );
  return found.filter(({ id }) => id !== "");
}

async function killTree(pid: number): Promise<void> {
  for (const { pid: one } of (await readProcessTree(pid)).toReversed()) killProcess(one);
}

async function removeBundle({ stateDirectory, mounts }: TracesOptions, id: string): Promise<void> {
  const bundle = join(stateDirectory, "io.containerd.runtime.v2.task", "k8s.io", id);
  await mounts.unmountBelow(bundle);
  await rm(bundle, { recursive: true, force: true });
}

async function removeNamespaces(options: TracesOptions, names: readonly string[], readKnown: () => Promise<ReadonlySet<string>>): Promise<void> {
  if (names.length === 0) return;
  const known = await readKnown();
  for (const name of names) {
    const path = join(namespaceDirectory(options), name);
    if (known.has(path)) continue;
    await options.mounts.unmount(path);
    await rm(path, { force: true });
  }
}

async function namespacesOf(sandboxes: Iterable<string>, runtime: KnownSandboxes, signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const id of sandboxes) {
    const path = await runtime.networkNamespace(id, signal).catch((error: unknown) => {
      // Removed since it was listed, with its namespace.
      if (isRuntimeNotFound(error)) return "";
      throw error;
    });
    found.add(path);
  }
  return found;
}

/** Where containerd's CRI plugin mounts them (`netns_mounts_under_state_dir`). */
const namespaceDirectory = ({ stateDirectory }: TracesOptions) => join(stateDirectory, "io.containerd.grpc.v1.cri", "netns");

async function addressFiles({ addressDirectory }: TracesOptions): Promise<string[]> {
  if (addressDirectory === undefined) return [];
  const entries = await readdir(addressDirectory, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile() && /^[\d.]+$|:/.test(entry.name)).map(({ parentPath, name }) => join(parentPath, name));
}

async function read({ file }: TracesOptions): Promise<EarlierTraces | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as EarlierTraces);
}

async function write({ file }: TracesOptions, traces: EarlierTraces): Promise<void> {
  const isEmpty = Object.values(traces).every((list: readonly string[]) => list.length === 0);
  if (isEmpty) await rm(file, { force: true });
  else await writeFile(file, JSON.stringify(traces), { mode: 0o600 });
}
