/** The runtime's connection to one pod's supervisor. `onClose` is called once, when the connection is lost or closed. */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { ChunkQueue } from "../../../host/chunk-queue.ts";
import { RuntimeError } from "../cri.ts";
import { onJsonLines, sendJsonLine } from "./json-lines.ts";
import type { AttachOutput, ProgramStart, SupervisorReply, SupervisorRequest } from "./supervisor-messages.ts";

export type ProgramEnd = Extract<SupervisorReply, { op: "ended" }>;

export interface SupervisorListener {
  onEnded(end: ProgramEnd): void;
  onClose(): void;
}

export class SupervisorClient {
  readonly #socket: Socket;
  readonly #path: string;
  readonly #waiting = new Map<number, { resolve: (reply: Done) => void; reject: (error: unknown) => void }>();
  #sequence = 0;

  private constructor(socket: Socket, path: string, listener: SupervisorListener) {
    this.#socket = socket;
    this.#path = path;
    onJsonLines(socket, (message) => {
      const reply = message as SupervisorReply;
      if (reply.op === "ended") return listener.onEnded(reply);
      this.#waiting.get(reply.sequence)?.resolve(reply);
      this.#waiting.delete(reply.sequence);
    });
    socket.on("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new RuntimeError("Unavailable", "the pod's supervisor ended"));
      this.#waiting.clear();
      listener.onClose();
    });
  }

  /** Rejects with the socket's error when nobody listens. */
  static async connect(path: string, listener: SupervisorListener): Promise<SupervisorClient> {
    return new SupervisorClient(await connectSocket(path), path, listener);
  }

  async start(start: ProgramStart): Promise<{ pid: number; startedAtMs: number }> {
    const { error, pid = 0, startedAtMs = 0 } = await this.#request({ op: "start", sequence: ++this.#sequence, start });
    if (error !== undefined) throw new RuntimeError("Unknown", error);
    return { pid, startedAtMs };
  }

  async signal(id: string, signal: string, toGroup: boolean): Promise<void> {
    await this.#request({ op: "signal", sequence: ++this.#sequence, id, signal, toGroup });
  }

  async reopenLog(id: string): Promise<void> {
    await this.#request({ op: "reopenLog", sequence: ++this.#sequence, id });
  }

  /** Output from now on; both streams end when the program does or `close` is called. */
  async attach(id: string): Promise<Attachment> {
    const socket = await connectSocket(this.#path);
    const outputs = { stdout: new ChunkQueue(), stderr: new ChunkQueue() };
    onJsonLines(socket, (message) => {
      const { stream, data } = message as AttachOutput;
      outputs[stream].push(Buffer.from(data, "base64"));
    });
    const closed = new Promise<void>((resolve) => {
      socket.on("close", () => {
        outputs.stdout.end();
        outputs.stderr.end();
        resolve();
      });
    });
    await sendJsonLine(socket, { op: "attach", id });
    return {
      ...outputs,
      closed,
      write: (data) => sendJsonLine(socket, { data: Buffer.from(data).toString("base64") }),
      endInput: () => void sendJsonLine(socket, { end: true }),
      close: () => void socket.destroy(),
    };
  }

  /** Kills the programs and ends the supervisor. */
  async end(): Promise<void> {
    await this.#request({ op: "end", sequence: ++this.#sequence }).catch(() => {}); // it was gone already
    this.close();
  }

  close(): void {
    this.#socket.destroy();
  }

  #request(request: Exclude<SupervisorRequest, { op: "attach" }>): Promise<Done> {
    if (this.#socket.destroyed) return Promise.reject(new RuntimeError("Unavailable", "the pod's supervisor ended"));
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.sequence, { resolve, reject });
      void sendJsonLine(this.#socket, request);
    });
  }
}

export interface Attachment {
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  readonly closed: Promise<void>;
  write(data: Uint8Array): Promise<void>;
  endInput(): void;
  close(): void;
}

type Done = Extract<SupervisorReply, { op: "done" }>;

function connectSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      socket.on("error", () => {}); // "close" follows
      resolve(socket);
    });
  });
}
