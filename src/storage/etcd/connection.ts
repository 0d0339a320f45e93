/**
 * Calls to an etcd cluster over gRPC. One channel for each endpoint; calls go to one of them, and to the next one after it could not be
 * reached or had lost its cluster. A call that certainly did nothing is made there again. Failures become StoreErrors here and nowhere else.
 */
import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { ClientDuplexStream, Metadata, ServiceError } from "@grpc/grpc-js";

import { StoreError } from "../store.ts";
import type { Method } from "./api.ts";

// Loaded with the first connection: most processes never speak to etcd.
type Grpc = typeof import("@grpc/grpc-js");

export class EtcdConnection {
  readonly #clients: InstanceType<Grpc["Client"]>[];
  /** Makes etcd end a watch of a member that has no leader, instead of keeping it silent. */
  readonly #requireLeader: Metadata;
  #current = 0;
  #isClosed = false;

  /** `endpoints` are URLs (`http://host:2379`, or `https://` with `tls`). Does no I/O. */
  static async open(endpoints: readonly string[], tls: EtcdTls = {}): Promise<EtcdConnection> {
    return new EtcdConnection(await import("@grpc/grpc-js"), endpoints, tls);
  }

  constructor(grpc: Grpc, endpoints: readonly string[], tls: EtcdTls) {
    this.#requireLeader = new grpc.Metadata();
    this.#requireLeader.set("hasleader", "true");
    this.#clients = endpoints.map((endpoint) => {
      const url = new URL(endpoint);
      if (url.protocol !== "https:") return new grpc.Client(url.host, grpc.credentials.createInsecure(), channelOptions);
      const address = url.hostname.replace(/^\[|\]$/g, "");
      const isNamed = isIP(address) === 0;
      const credentials = grpc.credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null, {
        // Node refuses an address as the name that gRPC says it looks for: it says another one, and the certificate is held against the address.
        ...(!isNamed && { checkServerIdentity: (_name: string, certificate: PeerCertificate) => checkServerIdentity(address, certificate) }),
      });
      return new grpc.Client(url.host, credentials, { ...channelOptions, ...(!isNamed && { "grpc.ssl_target_name_override": "etcd" }) });
    });
  }

  /** Calls `method`: at each endpoint at most once, as long as nothing can have been done. Throws StoreError; the message is etcd's own. */
  async call<Request, Response>(method: Method<Request, Response>, request: Request): Promise<Response> {
    for (let tries = 1; ; tries++) {
      const index = this.#current;
      try {
        return await this.#callAt(index, method, request);
      } catch (error) {
        this.#leave(index, error);
        const isLast = tries >= this.#clients.length || this.#isClosed;
        if (!isLast && isServiceError(error) && error.code === grpcUnavailable && (method.isRead || isUnsent(error))) continue;
        throw this.#isClosed ? new StoreError("Closed", "the store is closed", error) : etcdError(error);
      }
    }
  }

  #callAt<Request, Response>(index: number, method: Method<Request, Response>, request: Request): Promise<Response> {
    return new Promise<Response>((resolve, reject) => {
      this.#clients[index]!.makeUnaryRequest(method.path, method.encode, method.decode, request, (error, response) => {
        if (error !== null) reject(error);
        else resolve(response!);
      });
    });
  }

  /** Opens a stream of `method`, at a member that has a leader. Its errors are gRPC's: see `etcdError`. */
  stream<Request, Response>(method: Method<Request, Response>): ClientDuplexStream<Request, Response> {
    const index = this.#current;
    const stream = this.#clients[index]!.makeBidiStreamRequest(method.path, method.encode, method.decode, this.#requireLeader);
    stream.once("error", (error) => this.#leave(index, error));
    return stream;
  }

  /** What comes next goes to the next endpoint, when this one could not do its work. */
  #leave(index: number, error: unknown): void {
    if (isServiceError(error) && error.code === grpcUnavailable && this.#current === index) this.#current = (index + 1) % this.#clients.length;
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
  // A member that is back is used again soon (gRPC would wait up to two minutes).
  "grpc.initial_reconnect_backoff_ms": 200,
  "grpc.min_reconnect_backoff_ms": 200,
  "grpc.max_reconnect_backoff_ms": 3_000,
};

/** Whether gRPC found no connection, so that etcd has not seen the call. */
function isUnsent({ details }: ServiceError): boolean {
  return details.startsWith("No connection established");
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error;
}
