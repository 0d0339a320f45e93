/** Exec, attach and port-forward of the runtime `process`. */
import { connect } from "node:net";
import { join } from "node:path";
import { sleep } from "../../../base/clock.ts";
import type { Clock } from "../../../base/clock.ts";
import { ChunkQueue } from "../../../host/chunk-queue.ts";
import type { Programs, RunningProgram } from "../../../host/programs.ts";
import { RuntimeError } from "../cri.ts";
import type { AttachRequest, ExecRequest, ExecSyncRequest, PortForwardSession, StreamingResult, StreamingSession } from "../cri.ts";
import type { ExecSyncResponse } from "../cri-messages.ts";
import type { ProcessPods } from "./process-pods.ts";
import { findExecutable } from "./programs-of-images.ts";
import { onTerminal, resizeTerminal } from "./terminal.ts";

export class ProcessSessions {
  readonly #programs: Programs;
  readonly #clock: Clock;
  readonly #pods: ProcessPods;
  #terminals = 0;

  constructor(options: { programs: Programs; clock: Clock; pods: ProcessPods }) {
    this.#programs = options.programs;
    this.#clock = options.clock;
    this.#pods = options.pods;
  }

  async execSync({ container_id, cmd, timeoutSeconds }: ExecSyncRequest, signal?: AbortSignal): Promise<ExecSyncResponse> {
    const { command, env, workingDirectory } = await this.#commandFor(container_id, cmd);
    const [file = "", ...args] = command;
    const timeout = timeoutSeconds > 0 ? { timeoutMs: timeoutSeconds * 1000 } : {};
    const result = await this.#programs.run({ command: file, args, env, workingDirectory, outputLimitBytes: 16 * 1024 * 1024, ...timeout }, signal);
    if (result.timedOut)
      throw new RuntimeError("DeadlineExceeded", `failed to exec in container: timeout ${timeoutSeconds}s exceeded: context deadline exceeded`);
    return { stdout: result.stdout, stderr: result.stderr, exit_code: result.exitCode };
  }

  async openExec(request: ExecRequest): Promise<StreamingSession> {
    let found: FoundCommand;
    try {
      found = await this.#commandFor(request.container_id, request.cmd);
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.reason !== "Internal") throw error;
      return failedSession(`Internal error occurred: error executing command in container: ${error.message}`);
    }
    const { env, workingDirectory, directory } = found;
    const deviceFile = join(directory, `terminal-${++this.#terminals}`);
    const [command = "", ...args] = request.tty ? onTerminal(found.command, deviceFile) : found.command;
    const program = await this.#programs.start({ command, args, env, workingDirectory });
    if (!request.stdin) program.endInput();
    // A command does not outlive its container.
    const forget = this.#pods.onEnd(this.#pods.runningContainer(request.container_id), () => program.kill("SIGKILL"));
    const done = program.closed
      .then(() => program.exited)
      .then((exitCode) => resultOf(request.cmd, exitCode), lost)
      .finally(forget);
    return {
      ...outputsOf(program, request),
      write: (data) => (request.stdin ? program.write(data) : Promise.resolve()),
      endInput: () => program.endInput(),
      resize: request.tty ? this.#resizer(deviceFile, done) : () => {},
      done,
      close: () => program.endInput(),
    };
  }

  async openAttach(request: AttachRequest): Promise<StreamingSession> {
    const record = this.#pods.runningContainer(request.container_id);
    const attachment = await this.#pods.supervisorOf(record)?.attach(record.id);
    if (attachment === undefined) throw new RuntimeError("Unavailable", "the pod's supervisor ended");
    const done = attachment.closed.then((): StreamingResult => ({ outcome: "success" }));
    const deviceFile = join(this.#pods.environmentOf(record).directory, "terminal");
    return {
      ...outputsOf(attachment, request),
      write: (data) => (request.stdin ? attachment.write(data) : Promise.resolve()),
      endInput: () => attachment.endInput(),
      resize: request.tty ? this.#resizer(deviceFile, done) : () => {},
      done,
      close: () => attachment.close(),
    };
  }

  openPortForward(podSandboxId: string, port: number): PortForwardSession {
    const sandbox = this.#pods.records.sandbox(podSandboxId);
    const address = sandbox.address === "" ? "127.0.0.1" : sandbox.address;
    const socket = connect({ host: address, port, allowHalfOpen: true });
    const output = new ChunkQueue((bytes) => {
      unread -= bytes;
      if (unread < maxUnreadBytes) socket.resume();
    });
    let unread = 0;
    let failure: string | undefined;
    socket.on("data", (data: Buffer) => {
      output.push(data);
      unread += data.length;
      if (unread >= maxUnreadBytes) socket.pause();
    });
    socket.on("end", () => {
      output.end();
      socket.end();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      const what = error.code === "ECONNREFUSED" ? "connect: connection refused" : error.message;
      failure = `error forwarding port ${port} to pod ${podSandboxId}, uid : failed to connect to ${address}:${port}: dial tcp4 ${address}:${port}: ${what}`;
    });
    const done = new Promise<{ error?: string }>((resolve) => {
      socket.on("close", () => {
        output.end();
        resolve(failure === undefined ? {} : { error: failure });
      });
    });
    return {
      output,
      write: (data) => (socket.writable ? new Promise((resolve) => socket.write(data, () => resolve())) : Promise.resolve()),
      endInput: () => socket.end(),
      done,
      close: () => socket.destroy(),
    };
  }

  /** Rejects with reason `Internal` when the command cannot be run. */
  async #commandFor(containerId: string, cmd: readonly string[]): Promise<FoundCommand> {
    const environment = this.#pods.environmentOf(this.#pods.runningContainer(containerId));
    const [command = "", ...args] = cmd;
    const found = await findExecutable(command, environment.env["PATH"] ?? "", environment.workingDirectory);
    if ("file" in found) return { command: [found.file, ...args], ...environment };
    throw new RuntimeError(
      "Internal",
      `failed to exec in container: failed to start exec "${containerId}": OCI runtime exec failed: exec failed: unable to start container process: ${found.error}: unknown`,
    );
  }

  /** The terminal may not be there yet when the first size comes; the latest size is set as soon as it is. */
  #resizer(deviceFile: string, done: Promise<unknown>): StreamingSession["resize"] {
    let latest: { width: number; height: number } | undefined;
    let isBusy = false;
    let isDone = false;
    void done.then(() => (isDone = true));
    const apply = async () => {
      isBusy = true;
      while (latest !== undefined && !isDone) {
        const size = latest;
        if (!(await resizeTerminal(this.#programs, deviceFile, size))) await sleep(this.#clock, 10);
        else if (latest === size) latest = undefined;
      }
      isBusy = false;
    };
    return (size) => {
      latest = size;
      if (!isBusy) apply().catch(() => (isBusy = false)); // the terminal went away
    };
  }
}

type FoundCommand = { command: string[]; env: Record<string, string>; workingDirectory: string; directory: string };

const maxUnreadBytes = 256 * 1024;

/** Streams nobody asked for are read and dropped, so that they hold nothing back. */
function outputsOf(
  from: Pick<RunningProgram, "stdout" | "stderr">,
  wanted: { stdout: boolean; stderr: boolean; tty: boolean },
): Pick<StreamingSession, "stdout" | "stderr"> {
  const stdout = wanted.stdout ? from.stdout : dropped(from.stdout);
  const stderr = wanted.stderr && !wanted.tty ? from.stderr : dropped(from.stderr);
  return { stdout, stderr };
}

function dropped(stream: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  void (async () => {
    for await (const _ of stream);
  })();
  return nothing;
}

const nothing: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {},
};

function resultOf(cmd: readonly string[], exitCode: number): StreamingResult {
  if (exitCode === 0) return { outcome: "success" };
  return {
    outcome: "exited",
    exitCode,
    message: `command terminated with non-zero exit code: error executing command [${cmd.join(" ")}], exit code ${exitCode}`,
  };
}

function lost(error: unknown): StreamingResult {
  return { outcome: "failed", message: (error as Error).message };
}

function failedSession(message: string): StreamingSession {
  return {
    stdout: nothing,
    stderr: nothing,
    write: async () => {},
    endInput: () => {},
    resize: () => {},
    done: Promise.resolve({ outcome: "failed", message }),
    close: () => {},
  };
}
