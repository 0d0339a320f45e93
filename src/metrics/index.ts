/** The resource metrics API for `kubectl top` and autoscalers, served behind the API server. */
export { metricsRules, MetricsServer } from "./metrics-server.ts";
export type { MetricsServerOptions } from "./metrics-server.ts";
export { publishMetrics } from "./publish.ts";
export type { MetricsPlace } from "./publish.ts";
