/**
 * A transport with faults, from a seed: requests that are lost before or after the server acted on them, that arrive twice, that come late
 * or are refused as servers do refuse (errors, conflicts, expired versions), and streams that break off, lag or say a thing twice. All of it
 * happens to real clients, so that whatever uses a transport has to live with it. `partition` cuts the line until it is healed; `calm` ends
 * all faults for good.
 */
import { sleep, type Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { bytesResponse } from "../apimachinery/request.ts";
import { StatusError, expiredError, internalServerError, tooManyRequestsError } from "../apimachinery/status.ts";
import type { ApiResponse, Transport } from "../apimachinery/request.ts";
import { Faults } from "./faults.ts";

/**
 * - dropRequest, dropAnswer: the connection fails before, or after the server acted
 * - repeat: a write arrives twice; only the second answer is seen
 * - delay: the request arrives late
 * - refuse: an error of the server (429, 500); nothing was done
 * - conflict: a PUT, PATCH or DELETE loses against another writer (409); nothing was done
 * - expire: a watch from a version is told that the version is gone (410)
 * - breakStream: a stream ends with an error
 * - lag: a chunk of a stream, and all behind it, come late
 * - repeatChunk: a chunk of a stream comes twice
 */
export type TransportFault = "dropRequest" | "dropAnswer" | "repeat" | "delay" | "refuse" | "conflict" | "expire" | "breakStream" | "lag" | "repeatChunk";

/** A request as a transport gets it. */
export type FaultyRequest = Parameters<Transport>[0];

/** `rates` are probabilities from 0 to 1 (default 0). `maxDelayMs` is 1,000 unless given. */
export interface FaultTransportOptions {
  readonly random: Random;
  readonly clock: Clock;
  readonly rates?: Partial<Record<TransportFault, number>>;
  /** Longest delay and lag. */
  readonly maxDelayMs?: number;
  /** Hears of a fault of a request before it takes effect. */
  readonly onFault?: (kind: TransportFault, request: FaultyRequest) => void;
  /** Chunks after which a stream that breaks breaks. */
  readonly chunksBeforeBreak?: number;
}

/** Wraps a transport; `send` is the one with faults. `count` tells how often a fault struck. */
export class FaultTransport {
  readonly #send: Transport;
  readonly #options: FaultTransportOptions;
  readonly #faults: Faults<TransportFault>;
  #isCut = false;
  #isCalm = false;

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

  /** From now on there are no faults, nor in streams that are open. */
  calm(): void {
    this.#isCalm = true;
  }

  readonly send: Transport = async (request) => {
    this.#checkLine();
    if (this.#strikes("delay", request)) await this.#pause(request.signal);
    const refusal = this.#refusal(request);
    if (refusal !== undefined) return bytesResponse(refusal.code, "application/json", JSON.stringify(refusal.status));
    if (this.#strikes("dropRequest", request)) throw new TransportFaultError("the request was lost (injected)");
    // A client that heard nothing sends again: the server may act twice, and only the second answer is seen.
    if (request.method !== "GET" && this.#strikes("repeat", request)) await drain(await this.#send(request));
    const dropsAnswer = this.#strikes("dropAnswer", request);
    const response = await this.#send(request);
    if (dropsAnswer) {
      await drain(response);
      throw new TransportFaultError("the answer was lost (injected)");
    }
    this.#checkLine();
    return response.body.kind === "stream" ? { ...response, body: { kind: "stream", chunks: this.#fragile(response.body.chunks, request) } } : response;
  };

  #refusal(request: FaultyRequest): StatusError | undefined {
    if (this.#strikes("refuse", request)) return this.#options.random.integer(2) === 0 ? internalServerError("injected") : tooManyRequestsError("injected", 1);
    if (request.method !== "GET" && request.method !== "POST" && this.#strikes("conflict", request))
      return new StatusError({ message: "injected", reason: "Conflict", code: 409 });
    const isResumed = /(^|&)watch=(1|true)(&|$)/.test(request.query) && /(^|&)resourceVersion=[1-9]/.test(request.query);
    return isResumed && this.#strikes("expire", request) ? expiredError("injected") : undefined;
  }

  async *#fragile(chunks: AsyncIterable<Uint8Array>, request: FaultyRequest): AsyncGenerator<Uint8Array> {
    const breaks = this.#strikes("breakStream", request);
    let left = this.#options.chunksBeforeBreak ?? 1;
    for await (const chunk of chunks) {
      this.#checkLine();
      if (breaks && !this.#isCalm && left-- === 0) throw new TransportFaultError("the stream broke off (injected)");
      if (this.#strikes("lag", request)) await this.#pause(request.signal);
      yield chunk;
      if (this.#strikes("repeatChunk", request)) yield chunk;
    }
  }

  #strikes(kind: TransportFault, request: FaultyRequest): boolean {
    if (this.#isCalm || !this.#faults.strikes(kind)) return false;
    this.#options.onFault?.(kind, request);
    return true;
  }

  #pause(signal: AbortSignal): Promise<void> {
    const { clock, random, maxDelayMs = 1000 } = this.#options;
    return sleep(clock, 1 + random.integer(maxDelayMs), signal);
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
