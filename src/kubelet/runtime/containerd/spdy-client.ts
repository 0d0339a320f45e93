/**
 * The client's half of SPDY/3.1 as far as a CRI runtime's streaming server needs it: streams opened by us, data both ways.
 * No flow control and no priorities (the servers have neither). Header blocks we receive are never read: servers open no streams.
 * Driven by one socket; unread bytes of any stream pause it. Invariant: every stream ends when its FIN or reset comes, or the socket closes.
 */
import { request } from "node:http";
import type { Socket } from "node:net";
import { constants, deflateRawSync, deflateSync } from "node:zlib";
import { ChunkQueue } from "../../../host/chunk-queue.ts";
import { RuntimeError } from "../cri.ts";
import { controlFrame, dataFrame, flagFin, frameTypes, maxPayloadBytes } from "../../spdy-frames.ts";

export class SpdyConnection {
  readonly #socket: Socket;
  readonly #streams = new Map<number, Stream>();
  #nextStreamId = 1;
  #hasSentHeaders = false;
  #unreadBytes = 0;
  #pending: Buffer = Buffer.alloc(0);
  /** Resolves when the socket has closed. */
  readonly closed: Promise<void>;

  constructor(socket: Socket, head: Buffer) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once("close", () => {
        for (const stream of this.#streams.values()) stream.output.end();
        resolve();
      });
    });
    socket.on("error", () => {}); // "close" follows
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.#receive(head);
  }

  openStream(headers: Readonly<Record<string, string>>): SpdyStream {
    const id = this.#nextStreamId;
    this.#nextStreamId += 2;
    const output = new ChunkQueue((bytes) => this.#take(bytes));
    const stream: Stream = { output, isOpen: true };
    this.#streams.set(id, stream);
    const opening = Buffer.alloc(10);
    opening.writeUInt32BE(id, 0);
    this.#socket.write(controlFrame(frameTypes.synStream, Buffer.concat([opening, this.#headerBlock(headers)])));
    return {
      output,
      write: (data) => this.#write(id, stream, data),
      end: () => {
        if (stream.isOpen) this.#socket.write(dataFrame(id, Buffer.alloc(0), true));
        stream.isOpen = false;
      },
    };
  }

  close(): void {
    this.#socket.destroy();
  }

  async #write(id: number, stream: Stream, data: Uint8Array): Promise<void> {
    for (let at = 0; at < data.length; at += maxPayloadBytes) {
      if (!stream.isOpen || this.#socket.destroyed) return;
      const frame = dataFrame(id, data.subarray(at, at + maxPayloadBytes), false);
      await new Promise<void>((resolve) => this.#socket.write(frame, () => resolve()));
    }
  }

  /** One zlib stream for all blocks: its header comes with the first; every block is flushed and refers to none before it. */
  #headerBlock(headers: Readonly<Record<string, string>>): Buffer {
    const parts = [uint32(Object.keys(headers).length)];
    for (const [name, value] of Object.entries(headers)) {
      for (const text of [name, value]) parts.push(uint32(Buffer.byteLength(text)), Buffer.from(text));
    }
    const deflate = this.#hasSentHeaders ? deflateRawSync : deflateSync;
    this.#hasSentHeaders = true;
    return deflate(Buffer.concat(parts), { finishFlush: constants.Z_SYNC_FLUSH });
  }

  #receive(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (this.#pending.length >= 8) {
      const length = this.#pending.readUIntBE(5, 3);
      if (this.#pending.length < 8 + length) break;
      const head = this.#pending.subarray(0, 8);
      const payload = this.#pending.subarray(8, 8 + length);
      this.#pending = this.#pending.subarray(8 + length);
      if (head[0]! >= 128) this.#receiveControl(head.readUInt16BE(2), payload);
      else this.#receiveData(head.readUInt32BE(0), head[4]!, payload);
    }
  }

  #receiveData(id: number, flags: number, payload: Buffer): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (payload.length > 0 && !stream.output.isEnded) {
      this.#unreadBytes += payload.length;
      stream.output.push(payload);
      if (this.#unreadBytes >= maxUnreadBytes) this.#socket.pause();
    }
    if ((flags & flagFin) !== 0) stream.output.end();
  }

  #receiveControl(type: number, payload: Buffer): void {
    if (type === frameTypes.resetStream) {
      const stream = this.#streams.get(payload.readUInt32BE(0));
      if (stream === undefined) return;
      stream.isOpen = false;
      stream.output.end();
    } else if (type === frameTypes.ping && payload.readUInt32BE(0) % 2 === 0) {
      this.#socket.write(controlFrame(frameTypes.ping, payload));
    }
  }

  #take(bytes: number): void {
    this.#unreadBytes -= bytes;
    if (this.#unreadBytes < maxUnreadBytes && this.#socket.isPaused()) this.#socket.resume();
  }
}

export interface SpdyStream {
  readonly output: AsyncIterable<Uint8Array>;
  write(data: Uint8Array): Promise<void>;
  /** No more data from us. */
  end(): void;
}

type Stream = { output: ChunkQueue; isOpen: boolean };

const maxUnreadBytes = 256 * 1024;

/** Upgrades a POST to `url` to SPDY/3.1 with one of `protocols` (`X-Stream-Protocol-Version`). */
export function connectSpdy(url: string, protocols: readonly string[], signal?: AbortSignal): Promise<SpdyConnection> {
  return new Promise((resolve, reject) => {
    const headers = { Connection: "Upgrade", Upgrade: "SPDY/3.1", "X-Stream-Protocol-Version": [...protocols] };
    const upgrade = request(url, { method: "POST", headers, ...(signal === undefined ? {} : { signal }) });
    upgrade.once("upgrade", (_response, socket, head) => resolve(new SpdyConnection(socket as Socket, head)));
    upgrade.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.once("end", () => reject(new RuntimeError("Internal", `unable to upgrade connection: ${text.trim()}`)));
    });
    upgrade.once("error", (cause) =>
      reject(signal?.aborted === true ? signal.reason : new RuntimeError("Unavailable", `error dialing backend: ${cause.message}`, { cause })),
    );
    upgrade.end();
  });
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
