import { bytesResponse } from "../apimachinery/request.ts";
import { StatusError } from "../apimachinery/status.ts";
import type { ApiRequest, ApiResponse } from "../apimachinery/request.ts";

/**
 * An API server that answers from a script: each request takes the next answer, whatever it asks; what was asked is kept in `requests`,
 * one line each. For tests of what stands above a transport, where a real server could not be made to answer so.
 */
export function scriptedHandler(script: readonly ScriptedAnswer[]): {
  handler: (request: ApiRequest) => Promise<ApiResponse>;
  requests: string[];
  bodies: unknown[];
} {
  const requests: string[] = [];
  const bodies: unknown[] = [];
  let position = 0;
  const handler = async (request: ApiRequest): Promise<ApiResponse> => {
    requests.push(`${request.method} ${request.path}${request.query === "" ? "" : `?${request.query}`}`);
    if (request.body.length > 0) bodies.push(JSON.parse(Buffer.from(request.body).toString("utf8")));
    const answer = script[position++];
    if (answer === undefined) return new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true }));
    if (answer instanceof ScriptedStream)
      return { status: 200, headers: { "content-type": "application/json" }, body: { kind: "stream", chunks: answer.chunks(request.signal) } };
    if (answer instanceof StatusError) return bytesResponse(answer.code, "application/json", JSON.stringify(answer.status));
    if (answer instanceof Error) throw answer;
    return "status" in answer && "headers" in answer ? (answer as ApiResponse) : bytesResponse(200, "application/json", JSON.stringify(answer));
  };
  return { handler, requests, bodies };
}

/** An object is answered as JSON, a StatusError as its Status, another Error fails the connection. */
export type ScriptedAnswer = ApiResponse | ScriptedStream | Error | Readonly<Record<string, unknown>>;

/** A watch: sends what is pushed, until it is ended or its reader goes. */
export class ScriptedStream {
  readonly #frames: string[] = [];
  #isEnded = false;
  #wake: (() => void) | undefined;

  constructor(...events: readonly unknown[]) {
    for (const event of events) this.#frames.push(`${JSON.stringify(event)}\n`);
  }

  push(...events: readonly unknown[]): this {
    for (const event of events) this.#frames.push(`${JSON.stringify(event)}\n`);
    this.#wake?.();
    return this;
  }

  end(): this {
    this.#isEnded = true;
    this.#wake?.();
    return this;
  }

  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const onAbort = () => this.#wake?.();
    signal.addEventListener("abort", onAbort);
    try {
      while (!signal.aborted) {
        if (this.#frames.length > 0) yield Buffer.from(this.#frames.splice(0).join(""));
        else if (this.#isEnded) return;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}
