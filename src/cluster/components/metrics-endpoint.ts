/** `/metrics` over plain HTTP, for components whose metrics Kubernetes serves without TLS: the proxy and DNS. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { Log } from "../../base/log.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import { UsageError } from "../commands/arguments.ts";

export interface MetricsEndpoint {
  readonly address: string;
  readonly port: number;
}

/** A place that is taken, or not there, is told of and left. */
export async function serveMetrics(registry: MetricRegistry, place: MetricsEndpoint, log: Log): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    const [path] = (request.url ?? "").split("?");
    if (path !== "/metrics") return void response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("404 page not found\n");
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(registry.text());
  });
  server.listen(place.port, place.address);
  const failed = await once(server, "listening").then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failed !== undefined) {
    log.warn("Could not serve metrics", { ...place, error: failed });
    return new AsyncDisposableStack();
  }
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** `HOST:PORT` of a flag; an IPv6 address stands in brackets. Port 0: nowhere. Throws `UsageError`. */
export function readEndpoint(flag: string, text: string): MetricsEndpoint | undefined {
  const [, address, port] = /^(?:\[?([^[\]]*?)\]?:)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) throw new UsageError(`--${flag} wants HOST:PORT; not ${JSON.stringify(text)}`);
  return Number(port) === 0 ? undefined : { address: address ?? "127.0.0.1", port: Number(port) };
}
