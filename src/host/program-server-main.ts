/**
 * The program server: a small process made once by the main process, which starts programs for it, so that the large main process
 * never forks. It ends when its IPC channel closes; the programs it started end with it, those started detached go on.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { outputWindowBytes } from "./program-messages.ts";
import type { OutputStream, ProgramReply, ProgramRequest, ProgramSpec } from "./program-messages.ts";

type Entry = { child: ChildProcess; untaken: Record<OutputStream, number> };

const entries = new Map<number, Entry>();

process.on("message", (request: ProgramRequest) => handle(request));
process.on("disconnect", () => {
  for (const { child } of entries.values()) child.kill("SIGKILL");
  process.exit(0);
});
// Ctrl-C in a terminal reaches the whole process group; when to stop is the main process' decision, told by the channel.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

function handle(request: ProgramRequest): void {
  if (request.op === "start") return start(request.id, request.spec);
  if (request.op === "detach") return startDetached(request.id, request.spec, request.outputPath);
  const entry = entries.get(request.id);
  if (request.op === "write") {
    const stdin = entry?.child.stdin;
    if (stdin === null || stdin === undefined || !stdin.writable) return send({ op: "written", id: request.id });
    stdin.write(request.data, () => send({ op: "written", id: request.id }));
    return;
  }
  if (entry === undefined) return;
  switch (request.op) {
    case "end":
      entry.child.stdin?.end();
      return;
    case "kill":
      entry.child.kill(request.signal as NodeJS.Signals);
      return;
    case "taken": {
      entry.untaken[request.stream] -= request.bytes;
      const output = entry.child[request.stream];
      if (entry.untaken[request.stream] < outputWindowBytes && output?.isPaused() === true) output.resume();
    }
  }
}

function start(id: number, spec: ProgramSpec): void {
  const child = spawnProgram(id, spec, { stdio: ["pipe", "pipe", "pipe"] });
  if (child === undefined) return;
  const entry: Entry = { child, untaken: { stdout: 0, stderr: 0 } };
  entries.set(id, entry);
  child.stdin?.on("error", () => {}); // the program closed its input; its exit tells the rest
  forward(id, "stdout", entry);
  forward(id, "stderr", entry);
  child.on("spawn", () => send({ op: "started", id, pid: child.pid! }));
  child.on("exit", (code, signal) => send({ op: "exited", id, exitCode: exitCode(code, signal) }));
  child.on("close", () => entries.delete(id));
}

function startDetached(id: number, spec: ProgramSpec, outputPath: string | undefined): void {
  const output = outputPath === undefined ? ("ignore" as const) : openSync(outputPath, "a", 0o600);
  const child = spawnProgram(id, spec, { stdio: ["ignore", output, output], detached: true });
  if (typeof output === "number") closeSync(output);
  if (child === undefined) return;
  child.on("spawn", () => send({ op: "started", id, pid: child.pid! }));
  child.on("exit", (code, signal) => send({ op: "exited", id, exitCode: exitCode(code, signal) }));
  child.unref();
}

function spawnProgram(id: number, spec: ProgramSpec, how: { stdio: ("pipe" | "ignore" | number)[]; detached?: boolean }): ChildProcess | undefined {
  const fail = (error: NodeJS.ErrnoException) => {
    entries.delete(id);
    send({ op: "failed", id, message: error.message, code: error.code ?? "UNKNOWN" });
  };
  try {
    const child = spawn(spec.command, [...(spec.args ?? [])], {
      ...how,
      ...(spec.env === undefined ? {} : { env: { ...spec.env } }),
      ...(spec.workingDirectory === undefined ? {} : { cwd: spec.workingDirectory }),
    });
    child.on("error", (error) => {
      if (child.pid === undefined) fail(error);
    });
    return child;
  } catch (error) {
    fail(error as NodeJS.ErrnoException);
    return undefined;
  }
}

function forward(id: number, stream: OutputStream, entry: Entry): void {
  const output = entry.child[stream] as Readable;
  output.on("data", (data: Buffer) => {
    entry.untaken[stream] += data.length;
    if (entry.untaken[stream] >= outputWindowBytes) output.pause();
    send({ op: "data", id, stream, data });
  });
  output.on("close", () => send({ op: "closed", id, stream }));
}

/** As shells tell it: 128 + the signal's number when a signal ended the program. */
function exitCode(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

function send(reply: ProgramReply): void {
  if (process.connected) process.send!(reply);
}
