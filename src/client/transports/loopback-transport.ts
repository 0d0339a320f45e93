import type { ApiRequest, ApiResponse, Transport, UserInfo } from "../../apimachinery/request.ts";

/**
 * A transport into an API server of the same process: no socket, but the same entrance, the same stages and the same authorization.
 * `identity` is who the server takes the caller for. A stream ends for the consumer as soon as the request's signal aborts.
 */
export function loopbackTransport(handler: RequestHandler, identity: UserInfo): Transport {
  const peer = { address: "127.0.0.1", identity, isHttp2: true };
  return async (request) => {
    request.signal.throwIfAborted();
    const response = await untilAborted(handler({ ...request, peer }), request.signal);
    if (response.body.kind !== "stream") return response;
    return { ...response, body: { kind: "stream", chunks: abortable(response.body.chunks, request.signal) } };
  };
}

/** The API server's one entrance. */
export type RequestHandler = (request: ApiRequest) => Promise<ApiResponse>;

function untilAborted<R>(work: Promise<R>, signal: AbortSignal): Promise<R> {
  return new Promise<R>((resolve, reject) => {
    const leave = onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(leave);
  });
}

interface Waiters {
  readonly callbacks: Set<() => void>;
  readonly close: () => void;
}

const waiters = new WeakMap<AbortSignal, Waiters>();

/** One listener serves all who wait under a signal, since a signal looks at each of its listeners whenever one comes or goes. */
function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, close } = waiters.get(signal) ?? openWaiters(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0) close();
  };
}

function openWaiters(signal: AbortSignal): Waiters {
  const callbacks = new Set<() => void>();
  const call = () => callbacks.forEach((callback) => callback());
  const close = () => {
    signal.removeEventListener("abort", call);
    waiters.delete(signal);
  };
  signal.addEventListener("abort", call, { once: true });
  const opened = { callbacks, close };
  waiters.set(signal, opened);
  return opened;
}

/** The source until the signal aborts, which is listened to once for all of it. */
async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]();
  let refuse: ((reason: unknown) => void) | undefined;
  const onAbort = () => refuse?.(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const result = await new Promise<IteratorResult<T>>((resolve, reject) => {
        refuse = reject;
        iterator.next().then(resolve, reject);
      });
      refuse = undefined;
      if (result.done === true) return;
      yield result.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    const closed = iterator.return?.();
    // A source that is still waiting queues the return behind its wait; the same signal ends that wait on the server's side.
    if (refuse !== undefined) closed?.catch(() => undefined);
    else await closed;
  }
}
