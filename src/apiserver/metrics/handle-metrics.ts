/** `/metrics` and `/metrics/slis` in the text exposition format. */
import { MetricRegistry } from "../../base/metrics.ts";
import type { ApiResponse } from "../../apimachinery/request.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import type { HealthEndpoints } from "../handlers/paths/health.ts";
import type { RequestContext } from "../request-context.ts";
import type { ServerState } from "../server-state.ts";
import { healthGauge, readServerMetrics } from "./server-metrics.ts";

const contentType = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

/** The answer to a path of metrics, or undefined when the path is none. */
export async function handleMetrics(context: RequestContext, health: HealthEndpoints): Promise<ApiResponse | undefined> {
  const { server, info } = context;
  switch (info.path) {
    case "/metrics":
      await readServerMetrics(server, server.metrics);
      return bytesResponse(200, contentType, server.metrics.text());
    case "/metrics/slis":
      return bytesResponse(200, contentType, await healthText(server, health));
    default:
      return undefined;
  }
}

/** Looks at every check once. */
async function healthText(server: ServerState, health: HealthEndpoints): Promise<string> {
  const registry = new MetricRegistry();
  const gauge = healthGauge(registry);
  for (const [type, checks] of Object.entries(health)) {
    for (const { name, check } of checks) gauge.set((await check(server)) === undefined ? 1 : 0, name, type);
  }
  return registry.text();
}
