/** Runs the built `coracle` for a test, in a folder, on ports and address ranges of its own, and removes all of it at the end. */
import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const root = path.resolve(import.meta.dirname, "../..");
const coracle = path.join(root, "bin", "coracle");
const kubectlPath = path.join(root, "bin", "kubectl");
const execute = promisify(execFile);

export interface InstanceOptions {
  readonly args: readonly string[];
  /** Who runs it; the test's own user unless given. */
  readonly uid?: number;
  /** Only this component, as `coracle COMPONENT`. */
  readonly command?: string;
}

/** A data directory and the processes that run it. */
export class Instance implements AsyncDisposable {
  readonly dataDir: string;
  readonly #running = new Set<ChildProcess>();

  private constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  static async create(): Promise<Instance> {
    // Builds what is stale: an ordinary user could not.
    await execute(coracle, ["version"]);
    return new Instance(path.join(await mkdtemp(path.join(tmpdir(), "coracle-test-")), "data"));
  }

  /** Starts a process and resolves when it says that it is ready; rejects with its output when it ends before. */
  async start({ args, uid, command = "up" }: InstanceOptions): Promise<ChildProcess> {
    const child = spawn(coracle, [command, "--data-dir", this.dataDir, ...args], { stdio: ["ignore", "pipe", "pipe"], detached: true, ...(uid !== undefined && { uid, gid: uid, env: { ...process.env, HOME: path.dirname(this.dataDir) } }) });
    this.#running.add(child);
    let output = "";
    await new Promise<void>((resolve, reject) => {
      const onData = (chunk: Buffer) => {
        output += chunk.toString();
        if (/^(Kubernetes is ready|Running )/m.test(output)) resolve();
      };
      child.stdout.on("data", onData);
      child.stderr.on("data", onData);
      child.on("exit", (code) => reject(new Error(`coracle ${command} ended with ${code}:\n${output}`)));
    });
    return child;
  }

  /** Ends a process with a signal and waits until it is gone. */
  async end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
    const ended = child.exitCode !== null || child.signalCode !== null ? undefined : new Promise((resolve) => child.once("exit", resolve));
    // `bin/coracle` becomes the program itself, so the signal reaches it.
    child.kill(signal);
    await ended;
    this.#running.delete(child);
  }

  async kubectl(...args: string[]): Promise<string> {
    const { stdout } = await execute(kubectlPath, args, { env: { ...process.env, KUBECONFIG: path.join(this.dataDir, "kubeconfig") }, timeout: 120_000, maxBuffer: 64 << 20 });
    return stdout.trim();
  }

  async coracle(...args: string[]): Promise<string> {
    const { stdout } = await execute(coracle, [...args, "--data-dir", this.dataDir], { timeout: 120_000 });
    return stdout.trim();
  }

  /** The answer of a URL as soon as there is one; rejects after ten seconds. */
  async fetch(url: string): Promise<string> {
    return until(async () => {
      const response = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
      return response?.ok === true ? (await response.text()).trim() : undefined;
    }, `an answer of ${url}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#running) await this.end(child, "SIGTERM");
    await this.coracle("reset");
    await rm(path.dirname(this.dataDir), { recursive: true, force: true });
  }
}

/** Asks again until there is a result; rejects after `timeoutMs`. */
export async function until<T>(ask: () => Promise<T | undefined>, what: string, timeoutMs = 20_000): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const result = await ask();
    if (result !== undefined) return result;
    if (performance.now() > end) throw new Error(`there is not ${what} after ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Why containers cannot run here, or undefined. */
export async function whyNoContainers(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "needs root";
  for (const program of ["containerd", "runc", "nft", "ip"]) {
    const found = await Promise.all((process.env["PATH"] ?? "").split(":").map((folder) => access(path.join(folder, program)).then(() => true, () => false)));
    if (!found.includes(true)) return `needs ${program}`;
  }
  return undefined;
}
