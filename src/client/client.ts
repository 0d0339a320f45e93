import { sleep } from "../base/clock.ts";
import { StatusError } from "../apimachinery/status.ts";
import {
  createRequest,
  createSubresourceRequest,
  deleteCollectionRequest,
  deleteRequest,
  getRequest,
  listRequest,
  patchRequest,
  rawRequest,
  updateRequest,
  updateSubresourceRequest,
  watchRequest,
} from "./requests/request-builder.ts";
import { resourceLabel } from "./resource-type.ts";
import { decodeFrames, errorOf, readBody, retryAfterOf, textOf } from "./requests/response.ts";
import type { Clock } from "../base/clock.ts";
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { ApiResponse, Transport } from "../apimachinery/request.ts";
import type { Status } from "../apimachinery/status.ts";
import type { DeleteOptions, GetOptions, ListOptions, Patch, RequestValue, WatchOptions, WriteOptions } from "./requests/request-builder.ts";
import type { ResourceType } from "./resource-type.ts";

/**
 * A typed client of the API over any transport. It keeps no state: what it returns is what the server answered, and every refusal is a
 * StatusError. Answers that ask for it (429 and 5xx with Retry-After) are tried again up to ten times. `namespace` is `""` for
 * cluster-scoped resources, and for all namespaces in `list` and `watch`.
 */
export class Client {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #userAgent: string;
  readonly #signal: AbortSignal | undefined;

  constructor(options: ClientOptions) {
    this.#transport = options.transport;
    this.#clock = options.clock;
    this.#userAgent = options.userAgent;
    this.#signal = options.signal;
  }

  /** The same connection under another name: `kube-controller-manager/…/system:serviceaccount:kube-system:job-controller`. */
  withUserAgent(userAgent: string): Client {
    return new Client({ transport: this.#transport, clock: this.#clock, userAgent, ...(this.#signal !== undefined && { signal: this.#signal }) });
  }

  /** A subresource (`scale`, `status`) is read with `options.subresource`. */
  async get<T extends KubeObject>(
    resource: ResourceType<T>,
    namespace: string,
    name: string,
    options: GetOptions & SubresourceOption & CallOptions = {},
  ): Promise<T> {
    return this.#object(getRequest(resource, addressFrom(namespace, name, options.subresource), options), resource, name, options);
  }

  async list<T extends KubeObject>(resource: ResourceType<T>, namespace: string, options: ListOptions & CallOptions = {}): Promise<ObjectList<T>> {
    const list = await this.#json<Partial<ObjectList<T>>>(listRequest(resource, namespace, options), describe(resource, ""), options);
    return { metadata: list.metadata ?? {}, items: list.items ?? [] };
  }

  /** The namespace is the object's own. */
  async create<T extends KubeObject>(resource: ResourceType<T>, object: DeepReadonly<T>, options: WriteOptions & CallOptions = {}): Promise<T> {
    return this.#object(createRequest(resource, object as DeepReadonly<KubeObject>, options), resource, object.metadata.name ?? "", options);
  }

  /** POST to `binding`, `eviction`, `token` of an object; `R` is what that subresource answers. */
  async createSubresource<R = Status>(
    resource: ResourceType,
    address: SubresourceAddress,
    body: unknown,
    options: WriteOptions & CallOptions = {},
  ): Promise<R> {
    return this.#json(createSubresourceRequest(resource, address, body, options), describe(resource, address.name), options);
  }

  /** GET of a subresource that is a kind of its own: `scale`. */
  async getSubresource<R>(resource: ResourceType, address: SubresourceAddress, options: GetOptions & CallOptions = {}): Promise<R> {
    return this.#json(getRequest(resource, address, options), describe(resource, address.name), options);
  }

  /** PUT of a subresource that is a kind of its own; the body carries that kind. */
  async updateSubresource<R>(resource: ResourceType, address: SubresourceAddress, body: unknown, options: WriteOptions & CallOptions = {}): Promise<R> {
    return this.#json(updateSubresourceRequest(resource, address, body, options), describe(resource, address.name), options);
  }

  async update<T extends KubeObject>(
    resource: ResourceType<T>,
    object: DeepReadonly<T>,
    options: WriteOptions & SubresourceOption & CallOptions = {},
  ): Promise<T> {
    return this.#object(updateRequest(resource, object as DeepReadonly<KubeObject>, options), resource, object.metadata.name ?? "", options);
  }

  async updateStatus<T extends KubeObject>(resource: ResourceType<T>, object: DeepReadonly<T>, options: WriteOptions & CallOptions = {}): Promise<T> {
    return this.update(resource, object, { ...options, subresource: "status" });
  }

  async patch<T extends KubeObject>(
    resource: ResourceType<T>,
    namespace: string,
    name: string,
    patch: Patch & WriteOptions & SubresourceOption & CallOptions,
  ): Promise<T> {
    return this.#object(patchRequest(resource, addressFrom(namespace, name, patch.subresource), patch, patch), resource, name, patch);
  }

  /** Server-side apply of a partial object, which names itself. */
  async apply<T extends KubeObject>(
    resource: ResourceType<T>,
    object: DeepReadonly<KubeObject>,
    options: WriteOptions & SubresourceOption & CallOptions & { fieldManager: string; isForced?: boolean },
  ): Promise<T> {
    const namespace = resource.isNamespaced ? (object.metadata.namespace ?? "") : "";
    return this.patch(resource, namespace, object.metadata.name ?? "", { ...options, type: "apply", body: object });
  }

  /** Answers the object where the kind returns it (with the resourceVersion of the deletion), else a Status. */
  async delete<T extends KubeObject>(
    resource: ResourceType<T>,
    namespace: string,
    name: string,
    options: DeleteOptions & CallOptions = {},
  ): Promise<T | Status> {
    const { signal, ...body } = options;
    return this.#json(deleteRequest(resource, { namespace, name }, body), describe(resource, name), { ...(signal !== undefined && { signal }) });
  }

  async deleteCollection(resource: ResourceType, namespace: string, selection: ListOptions = {}, options: DeleteOptions & CallOptions = {}): Promise<void> {
    const { signal, ...body } = options;
    await this.#json(deleteCollectionRequest(resource, namespace, selection, body), describe(resource, ""), { ...(signal !== undefined && { signal }) });
  }

  /** Events as they come. Ends when the server ends the watch; throws a StatusError when it refuses, the signal's reason when aborted. */
  async *watch<T extends KubeObject>(
    resource: ResourceType<T>,
    namespace: string,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>, void> {
    for await (const batch of this.watchBatches(resource, namespace, options, signal)) yield* batch;
  }

  /** As `watch`, with the events that arrived together in one list. */
  async *watchBatches<T extends KubeObject>(
    resource: ResourceType<T>,
    namespace: string,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>[], void> {
    const response = await this.#send(watchRequest(resource, namespace, options), describe(resource, ""), { signal });
    if (response.body.kind !== "stream") return;
    for await (const batch of decodeFrames(response.body.chunks)) {
      yield batch as WatchEvent<T>[];
      signal.throwIfAborted();
    }
    signal.throwIfAborted();
  }

  /** GET of any path that answers JSON. */
  async raw<R>(path: string, options: CallOptions & { accept?: string } = {}): Promise<R> {
    return this.#json(rawRequest(path, options.accept), path, options);
  }

  /** Sends a request of the caller's own making; whatever comes back, refusals included, is returned. */
  async send(request: RequestValue, options: CallOptions = {}): Promise<ApiResponse> {
    const signal = options.signal ?? this.#signal ?? never;
    return this.#transport({ ...request, headers: { ...request.headers, "user-agent": this.#userAgent }, signal });
  }

  async #object<T extends KubeObject>(request: RequestValue, resource: ResourceType<T>, name: string, options: CallOptions): Promise<T> {
    return this.#json(request, describe(resource, name), options);
  }

  async #json<R>(request: RequestValue, subject: string, options: CallOptions): Promise<R> {
    const response = await this.#send(request, subject, options);
    return JSON.parse(textOf(await readBody(response.body))) as R;
  }

  /** Resolves with an answer of 2xx, after the retries the server asked for. */
  async #send(request: RequestValue, subject: string, options: CallOptions): Promise<ApiResponse> {
    for (let attempt = 1; ; attempt++) {
      const response = await this.send(request, options);
      if (response.status >= 200 && response.status < 300) return response;
      const error = errorOf(response, await readBody(response.body), { method: request.method, subject });
      const retryAfterSeconds = retryAfterOf(response);
      if (retryAfterSeconds === undefined || attempt > maxRetries || (response.status !== 429 && response.status < 500)) throw error;
      await sleep(this.#clock, retryAfterSeconds * 1000, options.signal ?? this.#signal);
    }
  }
}

/** What a client is made of. `userAgent` is sent with every request; field managers are named after its first part. */
export interface ClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Aborts every call that has no signal of its own. */
  readonly signal?: AbortSignal;
}
/** What every call takes. `signal` ends the call with its reason. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}
/** Where a subresource lives; `namespace` is `""` for cluster-scoped objects. */
export interface SubresourceAddress {
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}
/** Sends a write to a part of the object, such as `status` or `scale`. */
export interface SubresourceOption {
  readonly subresource?: string;
}
/** A list as the server gives it. `continue` is set when there is more, asked for with the same limit. */
export interface ObjectList<T> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: T[];
}
/** An ERROR carries a Status; a BOOKMARK an object with nothing but its resourceVersion and annotations. */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; readonly object: T }
  | { readonly type: "ERROR"; readonly object: Status };

/** Whether a deletion was answered with the object (its kind is not Status). */
export function isDeletedObject<T extends KubeObject>(answer: T | Status): answer is T {
  return answer.kind !== "Status";
}

/** The Status that an ERROR event carries, as a failure. */
export function watchError(status: Status): StatusError {
  const { kind: _kind, apiVersion: _apiVersion, status: _status, ...rest } = status;
  return new StatusError(rest);
}

const maxRetries = 10;
const never = new AbortController().signal;

function addressFrom(namespace: string, name: string, subresource: string | undefined): { namespace: string; name: string; subresource?: string } {
  return { namespace, name, ...(subresource !== undefined && { subresource }) };
}

function describe(resource: ResourceType, name: string): string {
  return `${resourceLabel(resource)}${name === "" ? "" : ` ${name}`}`;
}
