/** `/healthz`, `/readyz` and `/metrics` of an operator, over plain HTTP. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { MetricRegistry } from "../../base/metrics.ts";

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

export async function serveHealth(port: number, state: { readonly isReady: () => boolean; readonly metrics: MetricRegistry }): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const end = (status: number, body: string) => response.writeHead(status, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(body);
    if (pathname === "/healthz") end(200, "ok");
    else if (pathname === "/readyz") end(state.isReady() ? 200 : 503, state.isReady() ? "ok" : "not ready");
    else if (pathname === "/metrics") end(200, state.metrics.text());
    else end(404, "404 page not found\n");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
