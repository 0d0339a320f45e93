/**
 * Programs of the machine, started by a helper process (`program-server-main`) so that the main process never forks: a fork of a
 * large heap stops it for 100 ms. The helper is made by `startPrograms` and, should it die, again at the next request.
 * Invariant: every id in `running` gets exactly one end: failed, exited with both outputs closed, or lost with the helper.
 */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Clock } from "../base/clock.ts";
import { ChunkQueue } from "./chunk-queue.ts";
import type { OutputStream, ProgramReply, ProgramRequest, ProgramSpec } from "./program-messages.ts";

export type { ProgramSpec } from "./program-messages.ts";

export interface Programs {
  /** Runs to completion. Never rejects for an exit code; rejects with `ProgramError` when the program cannot be started. */
  run(spec: RunSpec, signal?: AbortSignal): Promise<RunResult>;
  /** Starts a program and hands over its streams. */
  start(spec: ProgramSpec): Promise<RunningProgram>;
  /** Starts a program in a session of its own that outlives us; both outputs are appended to `outputPath` (or dropped). */
  startDetached(spec: ProgramSpec, outputPath?: string): Promise<DetachedProgram>;
  /** Ends the helper; programs that are not detached are killed. */
  close(): Promise<void>;
}

export interface RunSpec extends ProgramSpec {
  readonly input?: string | Uint8Array;
  /** SIGKILL after this time; the result then says `timedOut`. Default: none. */
  readonly timeoutMs?: number;
  /** Bytes kept of each output; the rest is read and dropped. Default 1 MiB. */
  readonly outputLimitBytes?: number;
}

export interface RunResult {
  /** 128 + signal number when ended by a signal. */
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly isTruncated: boolean;
  readonly timedOut: boolean;
}

export interface RunningProgram {
  readonly pid: number;
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** Resolves when the program's pipe has taken the bytes (or the program no longer reads). */
  write(data: Uint8Array): Promise<void>;
  endInput(): void;
  kill(signal: NodeJS.Signals): void;
  /** The exit code; output may still follow. */
  readonly exited: Promise<number>;
  /** Resolves when it has exited and both outputs have ended; a child of its own may hold them longer. */
  readonly closed: Promise<void>;
}

export interface DetachedProgram {
  readonly pid: number;
  /** The exit code, as long as the helper lives. */
  readonly exited: Promise<number>;
}

export class ProgramError extends Error {
  override name = "ProgramError";
  /** An errno name such as `ENOENT`, or `LOST` when the helper died. */
  readonly reason: string;

  constructor(message: string, reason: string) {
    super(message);
    this.reason = reason;
  }
}

export function startPrograms(options: { clock: Clock; nodePath?: string }): Programs {
  return new ProgramClient(options);
}

/** The path of a program of ours, given the `import.meta.url` of a module in its folder: `NAME.ts` in the sources, `NAME.js` beside the bundle. */
export function programPath(moduleUrl: string, name: string): string {
  return fileURLToPath(new URL(`./${name}${moduleUrl.endsWith(".ts") ? ".ts" : ".js"}`, moduleUrl));
}

type Entry = {
  isDetached: boolean;
  hasExited: boolean;
  outputs: Record<OutputStream, ChunkQueue>;
  writes: (() => void)[];
  onStarted: (pid: number) => void;
  onEnd: (end: number | ProgramError) => void;
  closed: PromiseWithResolvers<void>;
};

class ProgramClient implements Programs {
  readonly #clock: Clock;
  readonly #nodePath: string;
  readonly #running = new Map<number, Entry>();
  /** Ids that keep our process alive: all but detached programs that have started. */
  readonly #waiting = new Set<number>();
  #helper: ChildProcess | undefined;
  #nextId = 1;

  constructor(options: { clock: Clock; nodePath?: string }) {
    this.#clock = options.clock;
    this.#nodePath = options.nodePath ?? process.execPath;
    this.#connect();
  }

  async run(spec: RunSpec, signal?: AbortSignal): Promise<RunResult> {
    signal?.throwIfAborted();
    const program = await this.start(spec);
    let timedOut = false;
    const kill = () => program.kill("SIGKILL");
    const cancelTimeout = spec.timeoutMs === undefined ? () => {} : this.#clock.after(spec.timeoutMs, () => ((timedOut = true), kill()));
    if (signal?.aborted === true) kill();
    signal?.addEventListener("abort", kill, { once: true });
    try {
      if (spec.input !== undefined) void program.write(Buffer.from(spec.input));
      program.endInput();
      const limit = spec.outputLimitBytes ?? 1024 * 1024;
      const [stdout, stderr, exitCode] = await Promise.all([collect(program.stdout, limit), collect(program.stderr, limit), program.exited]);
      signal?.throwIfAborted();
      return { exitCode, stdout: stdout.bytes, stderr: stderr.bytes, isTruncated: stdout.isTruncated || stderr.isTruncated, timedOut };
    } finally {
      cancelTimeout();
      signal?.removeEventListener("abort", kill);
    }
  }

  async start(spec: ProgramSpec): Promise<RunningProgram> {
    const id = this.#nextId++;
    const { pid, entry, exited } = await this.#launch(id, { op: "start", id, spec });
    return {
      pid,
      stdout: entry.outputs.stdout,
      stderr: entry.outputs.stderr,
      exited,
      closed: entry.closed.promise,
      write: (data) => {
        if (!this.#running.has(id)) return Promise.resolve();
        this.#send({ op: "write", id, data });
        return new Promise((resolve) => entry.writes.push(resolve));
      },
      endInput: () => this.#send({ op: "end", id }),
      kill: (signal) => this.#send({ op: "kill", id, signal }),
    };
  }

  async startDetached(spec: ProgramSpec, outputPath?: string): Promise<DetachedProgram> {
    const id = this.#nextId++;
    const { pid, exited } = await this.#launch(id, { op: "detach", id, spec, ...(outputPath === undefined ? {} : { outputPath }) });
    return { pid, exited };
  }

  async close(): Promise<void> {
    const helper = this.#helper;
    if (helper === undefined) return;
    const ended = new Promise((resolve) => helper.once("exit", resolve));
    helper.ref();
    helper.disconnect();
    await ended;
  }

  #launch(id: number, request: ProgramRequest): Promise<{ pid: number; entry: Entry; exited: Promise<number> }> {
    this.#connect();
    return new Promise((resolve, reject) => {
      const exit = Promise.withResolvers<number>();
      exit.promise.catch(() => {}); // whoever waits for the exit sees the error; nobody has to
      const taken = (stream: OutputStream) => (bytes: number) => this.#send({ op: "taken", id, stream, bytes });
      const entry: Entry = {
        isDetached: request.op === "detach",
        hasExited: false,
        outputs: { stdout: new ChunkQueue(taken("stdout")), stderr: new ChunkQueue(taken("stderr")) },
        writes: [],
        closed: Promise.withResolvers(),
        onStarted: (pid) => {
          resolve({ pid, entry, exited: exit.promise });
          if (entry.isDetached) this.#waiting.delete(id);
          this.#hold();
        },
        onEnd: (end) => {
          for (const written of entry.writes.splice(0)) written();
          if (typeof end === "number") return exit.resolve(end);
          entry.outputs.stdout.end();
          entry.outputs.stderr.end();
          exit.reject(end);
          entry.closed.resolve();
          reject(end);
        },
      };
      this.#running.set(id, entry);
      this.#waiting.add(id);
      this.#hold();
      this.#send(request);
    });
  }

  #connect(): void {
    if (this.#helper !== undefined) return;
    const helper = fork(programPath(import.meta.url, "program-server-main"), [], {
      execPath: this.#nodePath,
      execArgv: ["--max-old-space-size=64"],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#helper = helper;
    helper.on("message", (reply) => this.#handle(reply as ProgramReply));
    helper.once("exit", () => this.#lose());
    helper.once("error", () => this.#lose());
    helper.unref();
    this.#hold();
  }

  #hold(): void {
    const channel = this.#helper?.channel;
    if (this.#waiting.size > 0) channel?.ref();
    else channel?.unref();
  }

  #lose(): void {
    this.#helper = undefined;
    const lost = [...this.#running.values()];
    this.#running.clear();
    this.#waiting.clear();
    for (const entry of lost) entry.onEnd(new ProgramError("the program server ended", "LOST"));
  }

  #send(request: ProgramRequest): void {
    if (this.#helper?.connected === true) this.#helper.send(request);
  }

  #handle(reply: ProgramReply): void {
    const entry = this.#running.get(reply.id);
    if (entry === undefined) return;
    switch (reply.op) {
      case "started":
        entry.onStarted(reply.pid);
        return;
      case "failed":
        entry.onEnd(new ProgramError(reply.message, reply.code));
        this.#delete(reply.id);
        return;
      case "data":
        entry.outputs[reply.stream].push(reply.data);
        return;
      case "closed":
        entry.outputs[reply.stream].end();
        this.#forget(reply.id, entry);
        return;
      case "written":
        entry.writes.shift()?.();
        return;
      case "exited":
        entry.hasExited = true;
        entry.onEnd(reply.exitCode);
        this.#forget(reply.id, entry);
    }
  }

  /** Outputs close before or after the exit (a grandchild may hold them); the entry is needed until all three have come. */
  #forget(id: number, entry: Entry): void {
    if (entry.isDetached || (entry.hasExited && entry.outputs.stdout.isEnded && entry.outputs.stderr.isEnded)) {
      entry.closed.resolve();
      this.#delete(id);
    }
  }

  #delete(id: number): void {
    this.#running.delete(id);
    this.#waiting.delete(id);
    this.#hold();
  }
}

async function collect(output: AsyncIterable<Uint8Array>, limitBytes: number): Promise<{ bytes: Buffer; isTruncated: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of output) {
    if (size < limitBytes) chunks.push(chunk.subarray(0, limitBytes - size));
    size += chunk.length;
  }
  return { bytes: Buffer.concat(chunks), isTruncated: size > limitBytes };
}
