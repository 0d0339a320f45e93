/**
 * The server's half of SPDY/3.1, over anything that carries bytes: streams that the client opens, data both ways (draft-mbelshe-httpbis-spdy
 * 3.1). No flow control and no priorities, as with Kubernetes' clients. Driven by `receive`; invariant: every stream's input ends.
 */
import { constants, createInflate } from "node:zlib";
import type { Inflate } from "node:zlib";
import { ChunkQueue } from "../../../host/chunk-queue.ts";
import { spdyDictionary } from "./spdy-dictionary.ts";
import { controlFrame, dataFrame, flagFin, frameTypes, maxPayloadBytes } from "../../spdy-frames.ts";

export interface ServerStream {
  readonly id: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly input: AsyncIterable<Uint8Array>;
  /** The client has given it up. */
  readonly isReset: boolean;
  write(data: Uint8Array): Promise<void>;
  /** An empty frame with FIN: no more from us. */
  end(): Promise<void>;
  reset(): Promise<void>;
}

export class SpdyServer {
  readonly #send: (bytes: Uint8Array) => Promise<void>;
  readonly #streams = new Map<number, OpenStream>();
  readonly #opened: ServerStream[] = [];
  #wake: (() => void) | undefined;
  #isEnded = false;
  #pending: Buffer = Buffer.alloc(0);
  readonly #inflate: Inflate = createInflate({ dictionary: spdyDictionary, finishFlush: constants.Z_SYNC_FLUSH });
  #headerWork: Promise<void> = Promise.resolve();
  #hasReplied = false;

  constructor(send: (bytes: Uint8Array) => Promise<void>) {
    this.#send = send;
  }

  /** Streams as the client opens them, until `end`. */
  async *streams(): AsyncGenerator<ServerStream> {
    for (;;) {
      const stream = this.#opened.shift();
      if (stream !== undefined) yield stream;
      else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  receive(chunk: Uint8Array): void {
    this.#pending = this.#pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#pending, chunk]);
    while (this.#pending.length >= 8) {
      const length = this.#pending.readUIntBE(5, 3);
      if (this.#pending.length < 8 + length) return;
      const head = this.#pending.subarray(0, 8);
      const payload = this.#pending.subarray(8, 8 + length);
      this.#pending = this.#pending.subarray(8 + length);
      // Reading a header block takes a turn; what follows must not overtake it.
      this.#headerWork = this.#headerWork.then(() =>
        head[0]! >= 128 ? this.#receiveControl(head.readUInt16BE(2), payload) : this.#receiveData(head.readUInt32BE(0), head[4]!, payload),
      );
    }
  }

  /** Says that no further streams are taken; the last is the highest known. */
  async goAway(): Promise<void> {
    const payload = Buffer.alloc(8);
    payload.writeUInt32BE(Math.max(0, ...this.#streams.keys()), 0);
    await this.#send(controlFrame(frameTypes.goAway, payload));
  }

  /** The connection is closed: every stream's input ends. */
  end(): void {
    this.#headerWork = this.#headerWork.then(() => {
      this.#isEnded = true;
      for (const stream of this.#streams.values()) stream.close();
      this.#inflate.close();
      this.#wake?.();
    });
  }

  async #receiveControl(type: number, payload: Buffer): Promise<void> {
    switch (type) {
      case frameTypes.synStream:
        return this.#open(payload.readUInt32BE(0) & 0x7fffffff, parseHeaderBlock(await this.#inflateBlock(payload.subarray(10))));
      case frameTypes.resetStream:
        this.#streams.get(payload.readUInt32BE(0) & 0x7fffffff)?.close();
        return;
      case frameTypes.ping:
        return this.#send(controlFrame(frameTypes.ping, payload));
    }
  }

  async #open(id: number, headers: Record<string, string>): Promise<void> {
    const stream = new OpenStream(id, headers, this.#send);
    this.#streams.set(id, stream);
    const reply = Buffer.alloc(4);
    reply.writeUInt32BE(id);
    const block = emptyHeaderBlock(!this.#hasReplied);
    this.#hasReplied = true;
    await this.#send(controlFrame(frameTypes.synReply, Buffer.concat([reply, block])));
    this.#opened.push(stream);
    this.#wake?.();
  }

  #receiveData(id: number, flags: number, payload: Buffer): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    stream.queue.push(payload);
    if ((flags & flagFin) !== 0) stream.queue.end();
  }

  #inflateBlock(block: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const parts: Buffer[] = [];
      const onData = (part: Buffer) => parts.push(part);
      this.#inflate.on("data", onData);
      this.#inflate.once("error", reject);
      this.#inflate.write(block, () => {
        // Output arrives with the write's own callback, or a turn later.
        this.#inflate.flush(constants.Z_SYNC_FLUSH, () => {
          this.#inflate.off("data", onData);
          this.#inflate.off("error", reject);
          resolve(Buffer.concat(parts));
        });
      });
    });
  }
}

class OpenStream implements ServerStream {
  readonly id: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly queue = new ChunkQueue();
  readonly #send: (bytes: Uint8Array) => Promise<void>;
  #isOpen = true;
  #isReset = false;

  constructor(id: number, headers: Record<string, string>, send: (bytes: Uint8Array) => Promise<void>) {
    this.id = id;
    this.headers = headers;
    this.#send = send;
  }

  get input(): AsyncIterable<Uint8Array> {
    return this.queue;
  }

  get isReset(): boolean {
    return this.#isReset;
  }

  async write(data: Uint8Array): Promise<void> {
    for (let at = 0; at < data.length && this.#isOpen; at += maxPayloadBytes)
      await this.#send(dataFrame(this.id, data.subarray(at, at + maxPayloadBytes), false));
  }

  async end(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#send(dataFrame(this.id, Buffer.alloc(0), true));
  }

  async reset(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const payload = Buffer.alloc(8);
    payload.writeUInt32BE(this.id, 0);
    payload.writeUInt32BE(cancel, 4);
    await this.#send(controlFrame(frameTypes.resetStream, payload));
  }

  /** The client reset it, or the connection is gone. */
  close(): void {
    this.#isOpen = false;
    this.#isReset = true;
    this.queue.end();
  }
}

const cancel = 5;

/** Names and values, each with its length before it. */
function parseHeaderBlock(block: Buffer): Record<string, string> {
  const headers: Record<string, string> = {};
  let at = 4;
  const text = () => {
    const length = block.readUInt32BE(at);
    const value = block.toString("utf8", at + 4, at + 4 + length);
    at += 4 + length;
    return value;
  };
  for (let left = block.length < 4 ? 0 : block.readUInt32BE(0); left > 0; left--) {
    const name = text();
    headers[name.toLowerCase()] = text();
  }
  return headers;
}

/**
 * No headers, in the connection's one zlib stream: a header that names the dictionary comes first, then a stored block of four zero bytes
 * and the flush's empty one.
 */
function emptyHeaderBlock(isFirst: boolean): Buffer {
  const stored = Buffer.from([0x00, 0x04, 0x00, 0xfb, 0xff, 0, 0, 0, 0, 0x00, 0x00, 0x00, 0xff, 0xff]);
  return isFirst ? Buffer.concat([zlibHead, stored]) : stored;
}

/** CMF and FLG with FDICT set, and the dictionary's Adler-32. */
const zlibHead = Buffer.concat([Buffer.from([0x78, 0xbb]), adler32(spdyDictionary)]);

function adler32(data: Uint8Array): Buffer {
  let [a, b] = [1, 0];
  for (const byte of data) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  const sum = Buffer.alloc(4);
  sum.writeUInt16BE(b, 0);
  sum.writeUInt16BE(a, 2);
  return sum;
}
