import type { Clock } from "../base/clock.ts";
import type { ApiRequest, ApiResponse } from "../apimachinery/request.ts";
import type { RequestHandler } from "../client/index.ts";

/**
 * The API server's entrance, watched: how many requests are being worked on, and when the last one changed something that counts.
 * Watches are not counted once they are open; leases and node statuses are heartbeats and count as nothing.
 */
export class CountedHandler {
  readonly #inner: RequestHandler;
  readonly #clock: Clock;
  readonly #observer: RequestObserver | undefined;
  active = 0;
  lastWriteMs = Number.NEGATIVE_INFINITY;

  constructor(inner: RequestHandler, clock: Clock, observer?: RequestObserver) {
    this.#inner = inner;
    this.#clock = clock;
    this.#observer = observer;
  }

  readonly handle = async (request: ApiRequest): Promise<ApiResponse> => {
    this.active += 1;
    try {
      const response = await this.#inner(request);
      if (isWrite(request) && response.status < 300 && !isHeartbeat(request)) this.lastWriteMs = this.#clock.nowMs();
      this.#observer?.(request, response);
      return response;
    } finally {
      this.active -= 1;
    }
  };
}

export type RequestObserver = (request: ApiRequest, response: ApiResponse) => void;

export function isWrite({ method }: Pick<ApiRequest, "method">): boolean {
  return method !== "GET" && method !== "HEAD";
}

export function isHeartbeat({ path }: Pick<ApiRequest, "path">): boolean {
  return path.includes("/leases") || /^\/api\/v1\/nodes\/[^/]+\/status$/.test(path);
}
