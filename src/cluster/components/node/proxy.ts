/** The proxy as a component: Services on this node. */
import { hostname } from "node:os";
import { MetricRegistry } from "../../../base/metrics.ts";
import { TaskGroup } from "../../../base/task-group.ts";
import { createProxy, resetProxy } from "../../../proxy/index.ts";
import { ensureComponentRole } from "../../component-role.ts";
import { instanceId } from "../../instance-id.ts";
import { borrowPrograms } from "../../shared-programs.ts";
import type { UpOptions } from "../../commands/up-options.ts";
import { readEndpoint, serveMetrics } from "../metrics-endpoint.ts";
import type { MetricsEndpoint } from "../metrics-endpoint.ts";
import { chooseDataPlane } from "./choose-runtime.ts";
import type { ComponentContext } from "../start-components.ts";

export { resetProxy };

const user = "system:kube-proxy";

export async function startProxy(context: ComponentContext): Promise<AsyncDisposable> {
  const { environment, options, transportFor } = context;
  const borrowed = borrowPrograms(environment);
  const log = environment.log.with({ component: "proxy" });
  const mode = await chooseDataPlane(options, borrowed.programs);
  // The forwarder finds pods that are processes by themselves, which Kubernetes' own role for proxies does not foresee.
  if (mode === "forwarder")
    await ensureComponentRole(context, { name: "system:coracle-forwarder", user, rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] }] });
  const metrics = new MetricRegistry();
  const endpoint = readMetricsPlace(options);
  const proxy = createProxy({
    metrics,
    transport: transportFor({ username: user, groups: ["system:authenticated"] }),
    nodeName: options.nodeName ?? hostname().toLowerCase(),
    clock: environment.clock,
    random: environment.random,
    log,
    programs: borrowed.programs,
    mode,
    instanceId: instanceId(options.dataDir),
    podCidrs: options.podCidrs,
    families: options.serviceCidrs.some((cidr) => cidr.includes(":")) ? ["IPv4", "IPv6"] : ["IPv4"],
  });
  const served = endpoint && (await serveMetrics(metrics, endpoint, log));
  const group = new TaskGroup({ onFailure: (name, error) => log.error("A component failed", { name, error }) });
  group.start("proxy", (signal) => proxy.run(signal));
  return {
    async [Symbol.asyncDispose]() {
      await group.close();
      await served?.[Symbol.asyncDispose]();
      await borrowed[Symbol.asyncDispose]();
    },
  };
}

/** A proxy that is a process of its own serves them where Kubernetes' does; beside other components only when asked to. */
function readMetricsPlace({ flags, components }: UpOptions): MetricsEndpoint | undefined {
  const asked = flags.get("proxy")?.get("metrics-bind-address")?.at(-1);
  if (asked !== undefined) return readEndpoint("proxy.metrics-bind-address", asked);
  return components.size === 1 ? { address: "127.0.0.1", port: 10249 } : undefined;
}
