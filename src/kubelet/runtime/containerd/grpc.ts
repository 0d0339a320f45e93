/** gRPC on a unix socket, with message tables instead of generated code. */
import { Client, credentials, Metadata, status as statusCodes } from "@grpc/grpc-js";
import type { CallOptions, ServiceError } from "@grpc/grpc-js";
import { MessageCodec } from "../../../apimachinery/protobuf/messages.ts";
import type { MessageFacts } from "../../../apimachinery/protobuf/messages.ts";
import type { Clock } from "../../../base/clock.ts";
import { RuntimeError } from "../cri.ts";
import type { RuntimeErrorReason } from "../cri.ts";

export interface GrpcService {
  /** A unary call of `METHOD`, whose messages are `METHODRequest` and `METHODResponse` unless `messages` names others. */
  call(method: string, request: object, how?: CallHow): Promise<Record<string, unknown>>;
  /** A stream of `response` messages; ends at abort, throws when the stream breaks. */
  subscribe(method: string, request: { message: string; value: object }, response: string, signal: AbortSignal): AsyncIterable<Record<string, unknown>>;
}

export interface CallHow {
  readonly signal?: AbortSignal | undefined;
  /** Default the connection's; 0: none. */
  readonly timeoutMs?: number;
  readonly messages?: readonly [request: string, response: string];
}

export class GrpcConnection {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #timeoutMs: number;

  /** `timeoutMs`: of a call that has no other; default two minutes. */
  constructor(options: { socketPath: string; clock: Clock; timeoutMs?: number }) {
    this.#clock = options.clock;
    this.#timeoutMs = options.timeoutMs ?? 120_000;
    this.#client = new Client(`unix://${options.socketPath}`, credentials.createInsecure(), {
      "grpc.max_receive_message_length": 16 * 1024 * 1024,
      // A socket that comes back is tried again at once, not after the default back-off of up to two minutes.
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 1000,
    });
  }

  service(path: string, tables: MessageFacts, headers: Readonly<Record<string, string>> = {}): GrpcService {
    const codec = new MessageCodec(tables);
    const metadata = () => {
      const result = new Metadata();
      for (const [key, value] of Object.entries(headers)) result.set(key, value);
      return result;
    };
    return {
      call: (method, request, how = {}) => {
        const [requestName, responseName] = how.messages ?? [`${method}Request`, `${method}Response`];
        const timeoutMs = how.timeoutMs ?? this.#timeoutMs;
        const options: CallOptions = timeoutMs === 0 ? {} : { deadline: this.#clock.nowMs() + timeoutMs };
        const coding = { encode: encoder(codec, requestName), decode: decoder(codec, responseName) };
        return this.#unary(`/${path}/${method}`, request, { ...coding, metadata: metadata(), options, signal: how.signal });
      },
      subscribe: (method, request, response, signal) => {
        const stream = this.#client.makeServerStreamRequest(
          `/${path}/${method}`,
          encoder(codec, request.message),
          decoder(codec, response),
          request.value,
          metadata(),
        );
        return messagesOf(stream, signal);
      },
    };
  }

  close(): void {
    this.#client.close();
  }

  #unary(path: string, request: object, how: Unary): Promise<Record<string, unknown>> {
    how.signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const abort = () => call.cancel();
      const call = this.#client.makeUnaryRequest(path, how.encode, how.decode, request, how.metadata, how.options, (error, response) => {
        how.signal?.removeEventListener("abort", abort);
        if (error === null) resolve(response!);
        else reject(how.signal?.aborted === true ? how.signal.reason : runtimeError(error));
      });
      how.signal?.addEventListener("abort", abort, { once: true });
    });
  }
}

type Unary = {
  encode(value: object): Buffer;
  decode(bytes: Buffer): Record<string, unknown>;
  metadata: Metadata;
  options: CallOptions;
  signal: AbortSignal | undefined;
};

async function* messagesOf(stream: AsyncIterable<Record<string, unknown>> & { cancel(): void }, signal: AbortSignal): AsyncGenerator<Record<string, unknown>> {
  const cancel = () => stream.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    if (signal.aborted) return;
    for await (const message of stream) yield message;
  } catch (error) {
    if (!signal.aborted) throw runtimeError(error as ServiceError);
  } finally {
    signal.removeEventListener("abort", cancel);
    stream.cancel();
  }
}

function encoder(codec: MessageCodec, message: string): (value: object) => Buffer {
  return (value) => Buffer.from(codec.encode(message, value as Readonly<Record<string, unknown>>));
}

function decoder(codec: MessageCodec, message: string): (bytes: Buffer) => Record<string, unknown> {
  return (bytes) => withNumbers(codec.decode(message, bytes)) as Record<string, unknown>;
}

/** Nanosecond times come as bigints; `cri-messages.ts` says why numbers will do. CRI's messages are shallow. */
function withNumbers(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(withNumbers);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  for (const [key, member] of Object.entries(value)) (value as Record<string, unknown>)[key] = withNumbers(member);
  return value;
}

/** gRPC spells its codes in capitals; Go, and so Kubernetes' texts, as `NotFound`, `DeadlineExceeded`. */
function runtimeError(error: ServiceError): RuntimeError {
  const name = statusCodes[error.code] ?? "UNKNOWN";
  const reason = name === "CANCELLED" ? "Canceled" : name.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return new RuntimeError(reason as RuntimeErrorReason, error.details, { cause: error });
}
