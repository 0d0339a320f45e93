/** The named checks of the health endpoints, in the order in which Kubernetes lists them. */
import names from "../../api/data/health-checks.json" with { type: "json" };
import type { ServerState } from "../server-state.ts";
import type { HealthCheck, HealthEndpoints } from "./health.ts";

const isHealthy = () => undefined;

/** What each check looks at. A post-start hook is done when the server has started: requests are only answered then. */
const checks: Readonly<Record<string, HealthCheck["check"]>> = {
  etcd: storeAnswers,
  "etcd-readiness": storeAnswers,
  shutdown: (server) => (server.isShuttingDown ? "process is shutting down" : undefined),
};

async function storeAnswers(server: ServerState): Promise<string | undefined> {
  try {
    await server.store.revision();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const endpoint = (list: readonly string[]): HealthCheck[] => list.map((name) => ({ name, check: checks[name] ?? isHealthy }));

export const healthEndpoints: HealthEndpoints = { healthz: endpoint(names.healthz), livez: endpoint(names.livez), readyz: endpoint(names.readyz) };
