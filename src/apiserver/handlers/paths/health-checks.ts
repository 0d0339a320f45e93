/** The named checks of the health endpoints, in the order in which Kubernetes lists them. */
import names from "../../../api/data/health-checks.json" with { type: "json" };
import type { ServerState } from "../../server-state.ts";
import type { HealthCheck, HealthEndpoints } from "./health.ts";

const isHealthy = () => undefined;

/** What each check looks at. A post-start hook is done when the server has started: requests are only answered then. */
const checks: Readonly<Record<string, HealthCheck["check"]>> = {
  etcd: storeAnswers,
  "etcd-readiness": storeAnswers,
  "informer-sync": (server) => (server.cacher.hasUnreadable() ? "some values cannot be read from the storage" : undefined),
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

const builtIn: HealthEndpoints = { healthz: endpoint(names.healthz), livez: endpoint(names.livez), readyz: endpoint(names.readyz) };

/** What `server` is looked at for; key management plugins only where there are some. */
export function healthEndpointsOf({ kmsFault }: ServerState): HealthEndpoints {
  if (kmsFault === undefined) return builtIn;
  const plugins: HealthCheck = { name: "kms-providers", check: kmsFault };
  return { ...builtIn, healthz: [...builtIn.healthz, plugins], readyz: [...builtIn.readyz, plugins] };
}
