/** Servers in a process of its own, on a durable store, with what the kernel knows of its use of CPU and memory. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../../..");
const probe = path.join(import.meta.dirname, "loop-probe.mjs");

export class MeasuredServer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
  }

  /** Where it keeps its store and its keys. */
  static dataOf(folder: string): string {
    return path.join(folder, "data");
  }

  /** Starts `bundle`, the built command, with the API server alone unless `components` says more, and the flag of `bin/coracle`. `nodeFlags` go to the server's Node. */
  static async start(options: MeasuredServerOptions): Promise<MeasuredServer> {
    const bundle = options.bundle ?? path.join(root, "dist", "coracle.mjs");
    const folder = options.folder ?? (await mkdtemp(path.join(tmpdir(), "coracle-bench-api-")));
    const args = [
      "up",
      "--components",
      options.components ?? "apiserver",
      ...(options.flags ?? []),
      "--store",
      "lmdb",
      "--port",
      String(options.port),
      "--data-dir",
      MeasuredServer.dataOf(folder),
    ];
    const child = spawn(process.execPath, ["--max-semi-space-size=16", ...(options.nodeFlags ?? []), "--import", probe, bundle, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, CORACLE_LOOP_PROBE: path.join(folder, "loop"), NODE_COMPILE_CACHE: path.join(path.dirname(bundle), ".compile-cache") },
    });
    await new Promise<void>((resolve, reject) => {
      const failed = (code: number | null) =>
        void rm(folder, { recursive: true, force: true }).then(() => reject(new Error(`the server ended with ${code}`)), reject);
      child.on("exit", failed);
      child.stdout.on("data", (chunk: Buffer) => {
        if (!chunk.includes("Kubernetes is ready")) return;
        child.off("exit", failed);
        resolve();
      });
    });
    return new MeasuredServer(child, folder);
  }

  get kubeconfig(): Promise<string> {
    return readFile(path.join(MeasuredServer.dataOf(this.#folder), "kubeconfig"), "utf8");
  }

  /** Seconds of CPU used so far, in steps of 10 ms. */
  cpuSeconds(): Promise<number> {
    return cpuSecondsOf(this.#child);
  }

  /** A server of nothing but Node on `port`, with this one's certificate and on the same disk. */
  async floor(port: number): Promise<FloorServer> {
    const program = path.join(import.meta.dirname, "floor-server.mjs");
    const args = [program, path.join(this.#folder, "data", "pki"), path.join(this.#folder, "floor.log"), String(port)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    return new FloorServer(child);
  }

  async privateMiB(): Promise<number> {
    return (await this.#mib("Private_Clean")) + (await this.heldMiB());
  }

  /** Private memory that the kernel cannot take back: without the pages of the store's file, which it maps and the kernel caches. */
  heldMiB(): Promise<number> {
    return this.#mib("Private_Dirty");
  }

  async #mib(name: string): Promise<number> {
    const rollup = await readFile(`/proc/${this.#child.pid}/smaps_rollup`, "utf8");
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(rollup)?.[1] ?? 0) / 1024;
  }

  /** The longest time in milliseconds that the event loop was blocked since this was last asked. */
  async longestBlockMs(): Promise<number> {
    return (await this.longestBlock()).elapsedMs;
  }

  /** Of the longest blocks since this was last asked: by the clock, and by the processor time of the thread, which counts where the machine is shared. */
  async longestBlock(): Promise<{ elapsedMs: number; cpuMs: number }> {
    const file = path.join(this.#folder, "loop");
    await rm(file, { force: true });
    this.#child.kill("SIGUSR2");
    for (;;) {
      const text = await readFile(file, "utf8").catch(() => undefined);
      if (text !== undefined) return JSON.parse(text) as { elapsedMs: number; cpuMs: number };
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Of a server that runs under `--expose-gc`: so that its memory is what it holds. */
  async collectGarbage(): Promise<void> {
    await this.longestBlockMs();
  }

  /** Ends it and returns the folder, with which another can go on. */
  async stop(): Promise<string> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = new Promise((resolve) => this.#child.once("exit", resolve));
      this.#child.kill("SIGTERM");
      await ended;
    }
    return this.#folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export class FloorServer implements AsyncDisposable {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  cpuSeconds(): Promise<number> {
    return cpuSecondsOf(this.#child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
  }
}

async function cpuSecondsOf(child: ChildProcess): Promise<number> {
  const fields = (await readFile(`/proc/${child.pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export interface MeasuredServerOptions {
  readonly port: number;
  readonly bundle?: string;
  readonly nodeFlags?: readonly string[];
  readonly components?: string;
  /** What `stop` of an earlier one returned: its store is served. */
  readonly folder?: string;
  /** Further flags of `coracle up`. */
  readonly flags?: readonly string[];
}
