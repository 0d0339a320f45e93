/**
 * Calls to an etcd cluster over gRPC. One channel for each endpoint; calls go to one of them, and to the next one after it could not be
 * reached. Failures become StoreErrors here and nowhere else.
 */
import type { ClientDuplexStream, ServiceError } from "@grpc/grpc-js";

import { StoreError } from "../store.ts";
import type { Method } from "./api.ts";

// Loaded with the first connection: most processes never speak to etcd.
type Grpc = typeof import("@grpc/grpc-js");

export class EtcdConnection {
  readonly #clients: InstanceType<Grpc["Client"]>[];
  #current = 0;
  #isClosed = false;

  /** `endpoints` are URLs (`http://host:2379`, or `https://` with `tls`). Does no I/O. */
  static async open(endpoints: readonly string[], tls: EtcdTls = {}): Promise<EtcdConnection> {
    return new EtcdConnection(await import("@grpc/grpc-js"), endpoints, tls);
  }

  constructor(grpc: Grpc, endpoints: readonly string[], tls: EtcdTls) {
    const secure = () => grpc.credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null);
    this.#clients = endpoints.map((endpoint) => {
      const url = new URL(endpoint);
      return new grpc.Client(url.host, url.protocol === "https:" ? secure() : grpc.credentials.createInsecure(), channelOptions);
    });
  }

  /** Calls `method`. Throws StoreError; the message is etcd's own. */
  async call<Request, Response>(method: Method<Request, Response>, request: Request): Promise<Response> {
    const index = this.#current;
    try {
      return await new Promise<Response>((resolve, reject) => {
        this.#clients[index]!.makeUnaryRequest(method.path, method.encode, method.decode, request, (error, response) => {
          if (error !== null) reject(error);
          else resolve(response!);
        });
      });
    } catch (error) {
      if (isServiceError(error) && error.code === grpcUnavailable && this.#current === index) this.#current = (index + 1) % this.#clients.length;
      throw this.#isClosed ? new StoreError("Closed", "the store is closed", error) : etcdError(error);
    }
  }

  /** Opens a stream of `method`. Its errors are gRPC's: see `etcdError`. */
  stream<Request, Response>(method: Method<Request, Response>): ClientDuplexStream<Request, Response> {
    return this.#clients[this.#current]!.makeBidiStreamRequest(method.path, method.encode, method.decode);
  }

  close(): void {
    this.#isClosed = true;
    for (const client of this.#clients) client.close();
  }
}

/** Certificates in PEM; all optional. */
export interface EtcdTls {
  readonly ca?: Buffer;
  readonly key?: Buffer;
  readonly cert?: Buffer;
}

/** A failed call as a StoreError. */
export function etcdError(error: unknown): Error {
  if (!isServiceError(error)) return error instanceof Error ? error : new StoreError("Unavailable", String(error), error);
  const message = error.details;
  if (message.includes("request is too large") || message.includes("message larger than max")) {
    return new StoreError("TooLarge", "etcdserver: request is too large", error);
  }
  if (message.includes("database space exceeded")) return new StoreError("Full", message, error);
  if (message.includes("corrupt")) return new StoreError("Corrupt", message, error);
  return new StoreError("Unavailable", message, error);
}

/** Whether etcd refused a revision because it is compacted. */
export function isCompacted(error: unknown): boolean {
  return error instanceof StoreError && error.message === "etcdserver: mvcc: required revision has been compacted";
}

/** gRPC's status code UNAVAILABLE. */
const grpcUnavailable = 14;

const channelOptions = {
  // A list of many objects is one message.
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
  // A machine that vanished is noticed on idle watches too.
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
};

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error;
}
