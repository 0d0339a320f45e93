/** Starts the components beside the API server that `--components` names. Each reaches it under an identity of its own. */
import type { UserInfo, Transport } from "../../apimachinery/request.ts";
import type { ApiConnection } from "../connections/api-connection.ts";
import type { Certificates } from "../certificates/certificates.ts";
import type { Environment } from "../environment.ts";
import type { UpOptions, ComponentName } from "../commands/up-options.ts";

export interface ComponentContext {
  readonly environment: Environment;
  readonly options: UpOptions;
  readonly certificates: Certificates;
  readonly api: ApiConnection;
  /** A transport into the API server with an identity of its own. */
  transportFor(user: UserInfo): Transport;
}

/** Starts one component; what it returns stops it. */
export type StartComponent = (context: ComponentContext) => Promise<AsyncDisposable>;

const starters: Partial<Record<ComponentName, () => Promise<StartComponent>>> = {
  controllers: async () => (await import("./controllers.ts")).startControllers,
  scheduler: async () => (await import("./scheduler.ts")).startScheduler,
  network: async () => (await import("./node/network.ts")).startNetwork,
  kubelet: async () => (await import("./node/kubelet.ts")).startKubelet,
  proxy: async () => (await import("./node/proxy.ts")).startProxy,
  metrics: async () => (await import("./metrics.ts")).startMetrics,
  cloud: async () => (await import("./cloud.ts")).startCloud,
  nodes: async () => (await import("./node/machine-nodes.ts")).startMachineNodes,
  dns: async () => (await import("./dns.ts")).startDns,
  storage: async () => (await import("./apiserver/storage.ts")).startStorage,
};

/** Order of starting; stopping goes the other way. */
const order: readonly ComponentName[] = ["network", "controllers", "scheduler", "storage", "cloud", "kubelet", "proxy", "dns", "metrics", "nodes"];

export async function startComponents(context: Omit<ComponentContext, "transportFor">): Promise<AsyncDisposable> {
  const running = new AsyncDisposableStack();
  const full: ComponentContext = { ...context, transportFor: (user) => context.api.transportFor(user) };
  try {
    for (const name of order) {
      const load = starters[name];
      if (load === undefined || !context.options.components.has(name)) continue;
      const start = await load();
      running.use(await start(full));
      context.environment.log.info("Started component", { component: name });
    }
    return running;
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
}
