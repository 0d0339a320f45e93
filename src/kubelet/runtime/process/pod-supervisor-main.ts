/**
 * The supervisor of one pod of the runtime `process`: parent of its programs, writer of their logs, keeper of their exit codes. It
 * outlives the runtime (also one that was killed), which finds it again by its socket. Arguments: the socket's path.
 * Invariant: a program's state file says `ended` before any listener hears of its end.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { constants } from "node:os";
import { systemClock } from "../../../base/clock.ts";
import { parseProcessStat } from "../../../host/processes.ts";
import { CriLog } from "./cri-log.ts";
import type { LogStream } from "./cri-log.ts";
import { onJsonLines, sendJsonLine } from "./json-lines.ts";
import type { AttachInput, ProgramStart, ProgramState, SupervisorReply, SupervisorRequest } from "./supervisor-messages.ts";

type Program = { start: ProgramStart; child: ChildProcess; log: CriLog | undefined; startedAtMs: number; attached: Set<Socket> };

/** What an attacher may leave unread before the program is held back. */
const maxUnsentBytes = 256 * 1024;
/** A program that left its group may keep an output open after its container's end; this long its words are waited for. */
const lastWordsMs = 1000;

const clock = systemClock();
const programs = new Map<string, Program>();
const connections = new Set<Socket>();
const socketPath = process.argv[2]!;

for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const) process.on(signal, () => {});
const server = createServer(accept);
rmSync(socketPath, { force: true });
server.listen(socketPath);

function accept(socket: Socket): void {
  connections.add(socket);
  socket.on("error", () => {}); // "close" follows
  socket.on("close", () => connections.delete(socket));
  let attachedTo: Program | undefined;
  onJsonLines(socket, (message) => {
    const request = message as SupervisorRequest;
    if (attachedTo !== undefined) feed(attachedTo, message as AttachInput);
    else if (request.op === "attach") attachedTo = attach(request.id, socket);
    else
      void handle(request)
        .then((reply) => sendJsonLine(socket, reply))
        .then(() => request.op === "end" && process.exit(0));
  });
}

async function handle(request: Exclude<SupervisorRequest, { op: "attach" }>): Promise<SupervisorReply> {
  const { sequence } = request;
  try {
    switch (request.op) {
      case "start":
        return { op: "done", sequence, ...(await start(request.start)) };
      case "signal":
        signalProgram(request.id, request.signal, request.toGroup);
        break;
      case "reopenLog":
        programs.get(request.id)?.log?.reopen();
        break;
      case "end":
        for (const id of programs.keys()) signalProgram(id, "SIGKILL", true);
        server.close();
    }
    return { op: "done", sequence };
  } catch (error) {
    return { op: "done", sequence, error: (error as Error).message };
  }
}

function start(options: ProgramStart): Promise<{ pid: number; startedAtMs: number }> {
  const [command = "", ...args] = options.command;
  const log = options.logPath === "" ? undefined : new CriLog(options.logPath, clock.nowMs);
  const child = spawn(command, args, {
    cwd: options.workingDirectory,
    env: { ...options.env },
    stdio: [options.stdin ? "pipe" : "ignore", "pipe", "pipe"],
    detached: true, // a process group of its own, so that all of it can be killed
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => {
      const program: Program = { start: options, child, log, startedAtMs: clock.nowMs(), attached: new Set() };
      programs.set(options.id, program);
      child.stdin?.on("error", () => {}); // the program closed its input
      forward(program, "stdout");
      forward(program, "stderr");
      watchEnd(program);
      const { startTicks } = parseProcessStat(readFileSync(`/proc/${child.pid}/stat`, "utf8"));
      writeState(options.statePath, { state: "running", pid: child.pid!, startTicks, startedAtMs: program.startedAtMs });
      resolve({ pid: child.pid!, startedAtMs: program.startedAtMs });
    });
  });
}

function forward(program: Program, stream: LogStream): void {
  const output = program.child[stream]!;
  output.on("data", (data: Buffer) => {
    program.log?.write(stream, data);
    for (const socket of program.attached) {
      void sendJsonLine(socket, { stream, data: data.toString("base64") });
      if (socket.writableLength < maxUnsentBytes || output.isPaused()) continue;
      output.pause();
      const resume = () => output.resume();
      socket.once("drain", resume).once("close", resume);
    }
  });
  output.on("close", () => program.log?.end(stream));
}

/** The main program's end is the container's: what it left behind is killed, then the outputs close. */
function watchEnd(program: Program): void {
  const { child, start: options } = program;
  let exitCode = 0;
  let finishedAtMs = 0;
  let cancel = () => {};
  child.once("exit", (code, signal) => {
    exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
    finishedAtMs = clock.nowMs();
    killGroup(child.pid!, "SIGKILL");
    cancel = clock.after(lastWordsMs, () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    });
  });
  child.once("close", () => {
    cancel();
    programs.delete(options.id);
    program.log?.close();
    writeState(options.statePath, { state: "ended", startedAtMs: program.startedAtMs, exitCode, finishedAtMs });
    for (const socket of program.attached) socket.end();
    for (const socket of connections) if (!program.attached.has(socket)) void sendJsonLine(socket, { op: "ended", id: options.id, exitCode, finishedAtMs });
  });
}

function attach(id: string, socket: Socket): Program | undefined {
  const program = programs.get(id);
  if (program === undefined) {
    socket.end();
    return undefined;
  }
  program.attached.add(socket);
  socket.on("close", () => {
    program.attached.delete(socket);
    if (program.start.stdinOnce) program.child.stdin?.end();
  });
  return program;
}

function feed({ child, start: options }: Program, input: AttachInput): void {
  if ("data" in input) child.stdin?.write(Buffer.from(input.data, "base64"));
  else if (options.stdinOnce) child.stdin?.end();
}

function signalProgram(id: string, signal: string, toGroup: boolean): void {
  const child = programs.get(id)?.child;
  if (child?.pid === undefined) return;
  if (toGroup) killGroup(child.pid, signal);
  else child.kill(signal as NodeJS.Signals);
}

function killGroup(pid: number, signal: string): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Renamed into place, so that a reader never sees half of it. */
function writeState(path: string, state: ProgramState): void {
  writeFileSync(`${path}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
