/**
 * A containerd of our own: its socket and state in the runtime directory, its root under the data directory, nothing of the machine's
 * touched. It outlives our process with its containers; a later start finds it by its socket. While we run, it is started again when
 * it dies (its containers live on under their shims). Driven by `run`; `stop` ends it for good, `reset` removes all it made.
 */
import { access, mkdir, readFile, rm, statfs, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { deadline, sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { detectCapabilities } from "../../host/capabilities.ts";
import { createMounts } from "../../host/mounts.ts";
import type { Programs } from "../../host/programs.ts";
import { pauseImageName } from "../images/builtin-images.ts";
import { connectContainerd } from "./containerd.ts";
import { containerdToml } from "./containerd/containerd-config.ts";
import { endShims, noteTraces, removeTraces } from "./containerd/earlier-traces.ts";
import type { TracesOptions } from "./containerd/earlier-traces.ts";
import { openSandboxes } from "./containerd/known-sandboxes.ts";
import { detectCniBinDirectory } from "./containerd-requirements.ts";
import { repeat } from "../repeat.ts";
import type { ContainerRuntime } from "./cri.ts";
import { removeAllPods } from "./remove-pods.ts";

export interface ContainerdInstanceOptions {
  readonly programs: Programs;
  readonly clock: Clock;
  readonly log: Log;
  /** Root, configuration and log file go here. */
  readonly dataDirectory: string;
  /** Sockets and state: short, and gone after a reboot, such as `/run/coracle/ID`. */
  readonly runtimeDirectory: string;
  readonly cniConfDirectory: string;
  /** Where the address plugin of that configuration notes which address is taken, for the clean-up after a killed containerd. */
  readonly addressDirectory?: string;
  readonly containerdPath?: string;
}

export interface ContainerdInstance {
  readonly socketPath: string;
  /** The snapshotter its configuration names: what images are to be unpacked into. */
  readonly snapshotter: string;
  /** Waits for its end and starts it again, until `signal` aborts. It goes on running then. */
  run(signal: AbortSignal): Promise<void>;
  /** Ends containerd; containers go on. */
  stop(): Promise<void>;
  /** Stops and removes every sandbox, ends containerd, and removes its mounts and directories. */
  reset(): Promise<void>;
}

export class ContainerdError extends Error {
  override name = "ContainerdError";
}

/** Adopts the instance that serves on our socket, or starts one; resolves when it serves CRI. */
export async function startContainerd(options: ContainerdInstanceOptions, signal?: AbortSignal): Promise<ContainerdInstance> {
  const paths = pathsOf(options);
  const snapshotter = await writeConfig(options, paths);
  if (!(await isServing(options, paths))) await launch(options, paths, signal);
  return {
    socketPath: paths.socket,
    snapshotter,
    run: async (runSignal) => void (await Promise.all([keepRunning(options, paths, runSignal), keepClean(options, paths, runSignal)])),
    stop: () => stopContainerd(options, paths),
    reset: () => resetContainerd(options),
  };
}

/** Removes what an instance made, whether it runs or not. */
export async function resetContainerd(options: ContainerdInstanceOptions): Promise<void> {
  const paths = pathsOf(options);
  if (await exists(paths.config)) {
    // Only a running containerd can take its sandboxes' networks down and end its shims.
    if (!(await isServing(options, paths)))
      await launch(options, paths).catch((error: unknown) => options.log.warn("Could not start containerd to remove its pods", { error }));
    await withRuntime(options, paths, removeAllPods).catch((error: unknown) => options.log.warn("Could not remove all pods", { error }));
  }
  await stopContainerd(options, paths);
  await endShims(paths.socket);
  const mounts = createMounts(options);
  for (const directory of [paths.state, paths.root]) {
    await mounts.unmountBelow(directory);
    await rm(directory, { recursive: true, force: true });
  }
  for (const file of [paths.socket, `${paths.socket}.ttrpc`, paths.config, paths.pid, paths.log, paths.traces]) await rm(file, { force: true });
}

type Paths = { socket: string; state: string; root: string; config: string; pid: string; log: string; registry: string; traces: string };

function pathsOf({ dataDirectory, runtimeDirectory }: ContainerdInstanceOptions): Paths {
  return {
    socket: join(runtimeDirectory, "containerd.sock"),
    state: join(runtimeDirectory, "containerd"),
    root: join(dataDirectory, "containerd"),
    config: join(dataDirectory, "containerd.toml"),
    pid: join(dataDirectory, "containerd.pid"),
    log: join(dataDirectory, "containerd.log"),
    registry: join(dataDirectory, "registries"),
    traces: join(dataDirectory, "containerd-traces.json"),
  };
}

async function writeConfig(options: ContainerdInstanceOptions, paths: Paths): Promise<string> {
  for (const directory of [paths.state, paths.root, paths.registry, options.cniConfDirectory]) await mkdir(directory, { recursive: true, mode: 0o711 });
  const [capabilities, snapshotter, cniBinDirectory] = await Promise.all([detectCapabilities(), detectSnapshotter(paths.root), detectCniBinDirectory()]);
  const text = containerdToml({
    socketPath: paths.socket,
    rootDirectory: paths.root,
    stateDirectory: paths.state,
    registryConfigDirectory: paths.registry,
    cniConfDirectory: options.cniConfDirectory,
    cniBinDirectory,
    snapshotter,
    sandboxImage: pauseImageName,
    restrictOomScoreAdj: !capabilities.effective.has("CAP_SYS_RESOURCE"),
  });
  await writeFile(paths.config, text, { mode: 0o600 });
  return snapshotter;
}

/** Overlays cannot be stacked on one: in a container whose root is an overlay, layers are copied instead. */
async function detectSnapshotter(rootDirectory: string): Promise<string> {
  const filesystems = await readFile("/proc/filesystems", "utf8").catch(() => "");
  return /\boverlay$/m.test(filesystems) && (await statfs(rootDirectory)).type !== overlayMagic ? "overlayfs" : "native";
}

/** f_type of statfs(2). */
const overlayMagic = 0x794c7630;

async function launch(options: ContainerdInstanceOptions, paths: Paths, signal?: AbortSignal): Promise<void> {
  await noteTraces(tracesOf(options, paths));
  await rm(paths.socket, { force: true });
  const command = options.containerdPath ?? "containerd";
  const started = await options.programs.startDetached({ command, args: ["--config", paths.config] }, paths.log).catch((cause: unknown) => {
    throw new ContainerdError(`cannot start ${command}: ${(cause as Error).message}`, { cause });
  });
  await writeFile(paths.pid, String(started.pid), { mode: 0o600 });
  options.log.info("Started containerd", { pid: started.pid, socket: paths.socket });
  let exitCode: number | undefined;
  started.exited.then(
    (code) => (exitCode = code),
    () => {},
  );
  const limit = deadline(options.clock, 30_000, ...(signal === undefined ? [] : [signal]));
  try {
    for (let delayMs = 5; !(await isServing(options, paths)); delayMs = Math.min(delayMs * 1.5, 100)) {
      if (exitCode !== undefined) throw new ContainerdError(`containerd ended with exit code ${exitCode}: see ${paths.log}`);
      await sleep(options.clock, delayMs, limit.signal);
    }
  } catch (error) {
    if (error instanceof ContainerdError || signal?.aborted === true) throw error;
    throw new ContainerdError(`containerd did not serve within 30 s: see ${paths.log}`, { cause: error });
  } finally {
    limit.cancel();
  }
  await removeEarlier(options, paths, signal).catch((error: unknown) => options.log.warn(notCleaned, { error }));
}

const notCleaned = "Could not remove what an earlier containerd had left";
const cleaningMs = 30_000;

/** The repair: shims that containerd could not connect to, and what failed when it was started. */
function keepClean(options: ContainerdInstanceOptions, paths: Paths, signal: AbortSignal): Promise<void> {
  return repeat({ ...options, intervalMs: cleaningMs, failure: notCleaned }, (inner) => removeEarlier(options, paths, inner), signal);
}

async function removeEarlier(options: ContainerdInstanceOptions, paths: Paths, signal?: AbortSignal): Promise<void> {
  if (!(await exists(paths.traces))) return;
  const sandboxes = openSandboxes({ socketPath: paths.socket, clock: options.clock });
  try {
    await removeTraces(tracesOf(options, paths), sandboxes, signal);
  } finally {
    sandboxes.close();
  }
}

function tracesOf(options: ContainerdInstanceOptions, paths: Paths): TracesOptions {
  const { addressDirectory, log } = options;
  return {
    file: paths.traces,
    stateDirectory: paths.state,
    socketPath: paths.socket,
    ...(addressDirectory !== undefined && { addressDirectory }),
    mounts: createMounts(options),
    log,
  };
}

async function keepRunning(options: ContainerdInstanceOptions, paths: Paths, signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    await socketClosed(paths.socket, signal);
    if (signal.aborted) return;
    if (await isServing(options, paths)) {
      failures = 0;
      // containerd closes connections that say nothing; a pause keeps this from becoming a loop should it do so at once.
      await sleep(options.clock, 1000, signal).catch(() => {});
      continue;
    }
    options.log.warn("containerd ended; starting it again");
    await launch(options, paths, signal).then(
      () => (failures = 0),
      (error: unknown) => {
        if (!signal.aborted) options.log.error("Could not start containerd", { error });
        failures++;
      },
    );
    await sleep(options.clock, Math.min(30_000, 500 * 2 ** failures), signal).catch(() => {});
  }
}

/** Holds a connection; it closes when the server dies (or, after two idle minutes, by the server's own choice). */
function socketClosed(path: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = () => socket.destroy();
    signal.addEventListener("abort", end, { once: true });
    socket.on("error", () => {}); // "close" follows
    socket.resume();
    socket.once("close", () => {
      signal.removeEventListener("abort", end);
      resolve();
    });
    if (signal.aborted) end();
  });
}

async function isServing(options: ContainerdInstanceOptions, paths: Paths): Promise<boolean> {
  if (!(await exists(paths.socket))) return false;
  const limit = deadline(options.clock, 2000);
  try {
    const status = await withRuntime(options, paths, (runtime) => runtime.status(limit.signal));
    return status.conditions.some((condition) => condition.type === "RuntimeReady" && condition.status);
  } catch {
    return false; // whatever the reason, it does not serve
  } finally {
    limit.cancel();
  }
}

async function withRuntime<T>(options: ContainerdInstanceOptions, paths: Paths, use: (runtime: ContainerRuntime) => Promise<T>): Promise<T> {
  const runtime = connectContainerd({ socketPath: paths.socket, clock: options.clock });
  try {
    return await use(runtime);
  } finally {
    await runtime.close();
  }
}

async function stopContainerd(options: ContainerdInstanceOptions, paths: Paths): Promise<void> {
  const pid = Number(await readFile(paths.pid, "utf8").catch(() => "0"));
  for (const [signal, tries] of [
    ["SIGTERM", 100],
    ["SIGKILL", 100],
  ] as const) {
    for (let attempt = 0; attempt < tries && (await isOurContainerd(pid, paths)); attempt++) {
      if (attempt === 0) process.kill(pid, signal);
      await sleep(options.clock, 50);
    }
  }
  await rm(paths.pid, { force: true });
}

/** Whether `pid` still is what we started, not a later process with its number. */
async function isOurContainerd(pid: number, paths: Paths): Promise<boolean> {
  if (pid <= 0) return false;
  const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return commandLine.includes(paths.config);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
