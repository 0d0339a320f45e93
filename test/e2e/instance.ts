/** Runs the built `coracle` for a test, in a folder, on ports and address ranges of its own, and removes all of it at the end. */
import { execFile, spawn, spawnSync } from "node:child_process";
import type { ChildProcess, ChildProcessWithoutNullStreams } from "node:child_process";
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const root = path.resolve(import.meta.dirname, "../..");
export const coraclePath = path.join(root, "bin", "coracle");
export const kubectlPath = path.join(root, "bin", "kubectl");
const execute = promisify(execFile);

export interface InstanceOptions {
  readonly args: readonly string[];
  /** Who runs it; the test's own user unless given. */
  readonly uid?: number;
  /** Only this component, as `coracle COMPONENT`. */
  readonly command?: string;
  /** A network namespace to run in, instead of the machine's. */
  readonly namespace?: string;
}

/** `bin/coracle ARGS…` to its end; `through` is a program with arguments that starts it (setpriv, unshare). */
export function runCoracle(
  args: readonly string[],
  through: readonly string[] = [],
): { readonly code: number | null; readonly stdout: string; readonly stderr: string } {
  const [command, ...rest] = [...through, coraclePath, ...args];
  const { status, stdout, stderr } = spawnSync(command!, rest, { encoding: "utf8", timeout: 60_000 });
  return { code: status, stdout, stderr };
}

/** The user `nobody`, who has nothing. Only root can become it. */
export const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/** A data directory and the processes that run it. */
export class Instance implements AsyncDisposable {
  readonly dataDir: string;
  readonly #folder: string | undefined;
  /** Who has started it last. */
  #uid: number | undefined;
  readonly #running = new Set<ChildProcess>();

  private constructor(dataDir: string, folder: string | undefined) {
    this.dataDir = dataDir;
    this.#folder = folder;
  }

  /** On a data directory of its own, in a folder of its own unless it is given. */
  static async create(dataDir?: string): Promise<Instance> {
    // Builds what is stale: an ordinary user could not.
    await execute(coraclePath, ["version"]);
    if (dataDir !== undefined) return new Instance(dataDir, undefined);
    const folder = await mkdtemp(path.join(tmpdir(), "coracle-test-"));
    return new Instance(path.join(folder, "data"), folder);
  }

  /** Starts a process and resolves when it says that it is ready; rejects with its output when it ends before. */
  async start({ args, uid, command = "up", namespace }: InstanceOptions): Promise<ChildProcess> {
    this.#uid = uid;
    const [program, ...before] = namespace === undefined ? [coraclePath] : ["nsenter", `--net=/run/netns/${namespace}`, coraclePath];
    const child = spawn(program!, [...before, command, "--data-dir", this.dataDir, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      ...(uid !== undefined && { uid, gid: uid, env: { ...process.env, HOME: path.dirname(this.dataDir) } }),
    });
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

  async endAll(signal: NodeJS.Signals): Promise<void> {
    for (const child of this.#running) await this.end(child, signal);
  }

  /** The names of a node's pods in `default`, but for those that are being deleted. */
  async podsOf(node: string): Promise<string[]> {
    const { items } = JSON.parse(await this.kubectl("get", "pods", "--field-selector", `spec.nodeName=${node}`, "-o", "json")) as {
      items: { metadata: { name: string; deletionTimestamp?: string } }[];
    };
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.name);
  }

  async kubectl(...args: string[]): Promise<string> {
    const { stdout } = await execute(kubectlPath, args, { env: this.#environment(), timeout: 120_000, maxBuffer: 64 << 20 });
    return stdout.trim();
  }

  /** `kubectl apply` of an object. */
  async apply(object: unknown): Promise<void> {
    const applied = execute(kubectlPath, ["apply", "-f", "-"], { env: this.#environment(), timeout: 120_000 });
    applied.child.stdin!.end(JSON.stringify(object));
    await applied;
  }

  /** A kubectl that goes on; with a terminal of its own if asked for. `env` is added to the environment. */
  startKubectl(args: readonly string[], { hasTerminal = false, env = {} }: { hasTerminal?: boolean; env?: Record<string, string> } = {}): Session {
    const words = hasTerminal ? ["script", "-qec", [kubectlPath, ...args].join(" "), "/dev/null"] : [kubectlPath, ...args];
    return new Session(spawn(words[0]!, words.slice(1), { env: { ...this.#environment(), ...env } }));
  }

  async coracle(...args: string[]): Promise<string> {
    const { stdout } = await execute(coraclePath, [...args, "--data-dir", this.dataDir], {
      timeout: 120_000,
      ...(this.#uid !== undefined && { uid: this.#uid, gid: this.#uid }),
    });
    return stdout.trim();
  }

  /** The answer of a URL as soon as there is one; rejects after ten seconds. */
  async fetch(url: string): Promise<string> {
    return until(async () => {
      const response = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
      return response?.ok === true ? (await response.text()).trim() : undefined;
    }, `an answer of ${url}`);
  }

  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, KUBECONFIG: path.join(this.dataDir, "kubeconfig") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endAll("SIGTERM");
    await this.coracle("reset");
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }
}

/** A program that goes on, with all that it has said. */
export class Session implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<number | null>;
  #output = "";

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once("close", resolve));
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (this.#output += text));
  }

  get output(): string {
    return this.#output;
  }

  write(text: string): void {
    this.#child.stdin.write(text);
  }

  /** Tells it that nothing more comes. */
  end(): void {
    this.#child.stdin.end();
  }

  /** Resolves with the exit code. */
  ended(): Promise<number | null> {
    return this.#ended;
  }

  /** Resolves with the match as soon as the output has one; rejects with the output after `timeoutMs`. */
  async saw(pattern: RegExp, timeoutMs = 20_000): Promise<RegExpExecArray> {
    return until(
      async () => pattern.exec(this.#output) ?? undefined,
      () => `${pattern} in:\n${this.#output}`,
      timeoutMs,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await this.#ended;
  }
}

/** Asks again until there is a result; rejects after `timeoutMs`. */
export async function until<T>(ask: () => Promise<T | undefined>, what: string | (() => string), timeoutMs = 20_000): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const result = await ask();
    if (result !== undefined) return result;
    if (performance.now() > end) throw new Error(`there is not ${typeof what === "string" ? what : what()} after ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Why containers cannot run here, or undefined. */
export async function whyNoContainers(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "needs root";
  for (const program of ["containerd", "runc", "nft", "ip"]) {
    const missing = await whyNoProgram(program);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

/** That a program is not on the PATH, or undefined. */
export async function whyNoProgram(name: string): Promise<string | undefined> {
  const found = await Promise.all(
    (process.env["PATH"] ?? "").split(":").map((folder) =>
      access(path.join(folder, name)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true) ? undefined : `needs ${name}`;
}
