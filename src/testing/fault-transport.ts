/**
 * A transport with faults, from a seed: requests that are lost before or after the server acted on them, that arrive twice, that come late,
 * and streams that break off. What the server says is never changed, only lost or late, so that whatever uses a transport has to live
 * with it. `partition` cuts the line until it is healed.
 */
import { sleep, type Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { ApiResponse, Transport } from "../apimachinery/request.ts";
import { Faults } from "./faults.ts";

/**
 * - dropRequest: lost before the server acted on it
 * - dropAnswer: lost after that
 * - repeat: a write arrives twice
 * - delay: arrives late
 * - breakStream: a stream ends with an error after some chunks
 */
export type TransportFault = "dropRequest" | "dropAnswer" | "repeat" | "delay" | "breakStream";

/** `rates` are probabilities from 0 to 1 (default 0). `maxDelayMs` is 1,000 unless given. */
export interface FaultTransportOptions {
  readonly random: Random;
  readonly clock: Clock;
  readonly rates?: Partial<Record<TransportFault, number>>;
  /** Longest delay. */
  readonly maxDelayMs?: number;
  /** Chunks after which a stream that breaks breaks. */
  readonly chunksBeforeBreak?: number;
}

/** Wraps a transport; `send` is the one with faults. `count` tells how often a fault struck. */
export class FaultTransport {
  readonly #send: Transport;
  readonly #options: FaultTransportOptions;
  readonly #faults: Faults<TransportFault>;
  #isCut = false;

  constructor(send: Transport, options: FaultTransportOptions) {
    this.#send = send;
    this.#options = options;
    this.#faults = new Faults(options.random, options.rates ?? {});
  }

  count(kind: TransportFault): number {
    return this.#faults.count(kind);
  }

  /** From now on no request arrives; open streams end with an error at their next chunk. */
  partition(): void {
    this.#isCut = true;
  }

  heal(): void {
    this.#isCut = false;
  }

  readonly send: Transport = async (request) => {
    this.#checkLine();
    if (this.#faults.strikes("delay")) await sleep(this.#options.clock, 1 + this.#options.random.integer(this.#options.maxDelayMs ?? 1000), request.signal);
    if (this.#faults.strikes("dropRequest")) throw new TransportFaultError("the request was lost (injected)");
    // A client that heard nothing sends again: the server may act twice, and only the second answer is seen.
    if (request.method !== "GET" && this.#faults.strikes("repeat")) await drain(await this.#send(request));
    const dropsAnswer = this.#faults.strikes("dropAnswer");
    const response = await this.#send(request);
    if (dropsAnswer) {
      await drain(response);
      throw new TransportFaultError("the answer was lost (injected)");
    }
    this.#checkLine();
    return response.body.kind === "stream" ? { ...response, body: { kind: "stream", chunks: this.#fragile(response.body.chunks) } } : response;
  };

  async *#fragile(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const breaks = this.#faults.strikes("breakStream");
    let left = this.#options.chunksBeforeBreak ?? 1;
    for await (const chunk of chunks) {
      this.#checkLine();
      if (breaks && left-- === 0) throw new TransportFaultError("the stream broke off (injected)");
      yield chunk;
    }
  }

  #checkLine(): void {
    if (this.#isCut) throw new TransportFaultError("the line is cut (injected)");
  }
}

/** A connection's failure, as a real transport would report it. */
export class TransportFaultError extends Error {
  override name = "TransportFaultError";
  readonly reason = "ConnectionFailed";
}

/** Lets go of an answer that nobody will see. */
async function drain({ body }: ApiResponse): Promise<void> {
  if (body.kind === "stream") await body.chunks[Symbol.asyncIterator]().return?.();
}
