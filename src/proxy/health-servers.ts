import { createServer } from "node:http";
import type { Server } from "node:http";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { HealthCheck, ServicePlan } from "./plan.ts";

/**
 * Answers load balancers: whether this node has endpoints of a Service (at its `healthCheckNodePort`), and whether the proxy works
 * (`/healthz`, `/livez`). Driven by the proxy after each change. A port that is taken is reported and left.
 */
export class HealthServers {
  readonly #options: HealthOptions;
  readonly #checks = new Map<string, { check: HealthCheck; server: Server }>();
  #own: Server | undefined;
  #lastUpdatedMs = 0;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  async follow(plans: ReadonlyMap<string, ServicePlan>, changed: Iterable<readonly [string, ServicePlan | undefined]>): Promise<void> {
    this.#lastUpdatedMs = this.#options.clock.nowMs();
    await this.#serveOwn();
    for (const [name] of changed) await this.#put(name, plans.get(name)?.healthCheck);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#checks.values()].map(({ server }) => closed(server)));
    this.#checks.clear();
    if (this.#own !== undefined) await closed(this.#own);
  }

  async #put(name: string, check: HealthCheck | undefined): Promise<void> {
    const known = this.#checks.get(name);
    if (known !== undefined && known.check.port === check?.port) {
      known.check = check;
      return;
    }
    this.#checks.delete(name);
    if (known !== undefined) await closed(known.server);
    if (check === undefined) return;
    const server = createServer((_request, response) => {
      const answer = healthCheckAnswer(this.#checks.get(name)?.check ?? check);
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
    if (await this.#listen(server, "0.0.0.0", check.port)) this.#checks.set(name, { check, server });
  }

  async #serveOwn(): Promise<void> {
    const { health, clock } = this.#options;
    if (health === undefined || this.#own !== undefined) return;
    this.#own = createServer((request, response) => {
      const isKnown = request.url === "/healthz" || request.url === "/livez";
      if (!isKnown) return void response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("404 page not found\n");
      const [lastUpdated, currentTime] = [this.#lastUpdatedMs, clock.nowMs()].map((ms) => new Date(ms).toISOString());
      response.writeHead(200, jsonHeaders).end(JSON.stringify({ lastUpdated, currentTime, nodeEligible: true }));
    });
    await this.#listen(this.#own, health.address, health.port);
  }

  #listen(server: Server, address: string, port: number): Promise<boolean> {
    return new Promise((resolve) => {
      server.once("error", (error) => {
        this.#options.log.warn("Could not serve a health check", { port, error });
        resolve(false);
      });
      server.listen(port, address, () => resolve(true));
    });
  }
}

interface HealthOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly health?: { readonly address: string; readonly port: number };
}

const jsonHeaders = { "content-type": "application/json", "x-content-type-options": "nosniff" };

/** 200 when this node has ready endpoints, else 503; the header weighs nodes against each other. */
export function healthCheckAnswer({ namespace, name, localEndpoints }: HealthCheck): { status: number; headers: Record<string, string>; body: string } {
  return {
    status: localEndpoints > 0 ? 200 : 503,
    headers: { ...jsonHeaders, "x-load-balancing-endpoint-weight": String(localEndpoints) },
    body: `${JSON.stringify({ service: { namespace, name }, localEndpoints, serviceProxyHealthy: true })}\n`,
  };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
