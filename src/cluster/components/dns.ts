/** The cluster's DNS as a component. */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { MetricRegistry } from "../../base/metrics.ts";
import { TaskGroup, untilAborted } from "../../base/task-group.ts";
import type { PolicyRule } from "../../api/rbac-v1/types.ts";
import { createDns, readResolvConf } from "../../dns/index.ts";
import { gatewayAddress } from "../../network/index.ts";
import { serviceLoopbackAddress } from "../../proxy/index.ts";
import { ensureComponentRole } from "../component-role.ts";
import { instanceId } from "../instance-id.ts";
import { borrowPrograms } from "../shared-programs.ts";
import { serveMetrics } from "./metrics-endpoint.ts";
import { chooseDataPlane } from "./node/choose-runtime.ts";
import type { ComponentContext } from "./start-components.ts";

const metricsPort = 9153;
const user = "system:serviceaccount:kube-system:coracle-dns";

/**
 * For containers it listens on the bridge and is published as `kube-system/kube-dns`; for pods that are processes, on the loopback
 * address of the Service's ClusterIP at port 8053.
 */
export async function startDns(context: ComponentContext): Promise<AsyncDisposable> {
  const { environment, options, transportFor } = context;
  const log = environment.log.with({ component: "dns" });
  await using borrowed = borrowPrograms(environment);
  const isForContainers = (await chooseDataPlane(options, borrowed.programs)) === "nft";
  const clusterAddress = dnsClusterAddress(options.serviceCidrs[0]!);
  const listen = isForContainers
    ? { address: gatewayAddress(options.podCidrs[0]!).address, port: 53 }
    : { address: serviceLoopbackAddress(clusterAddress, instanceId(options.dataDir)) ?? "127.0.0.1", port: 8053 };
  await ensureComponentRole(context, { name: "system:coracle-dns", user, rules: dnsRules() });
  const metrics = new MetricRegistry();
  const group = new TaskGroup({ onFailure: (name, error) => log.error("A component failed", { name, error }) });
  const dns = createDns({
    transport: transportFor({ username: user, groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"] }),
    clock: environment.clock,
    random: environment.random,
    log,
    listen,
    ...(isForContainers && { publish: { clusterAddress, nodeName: options.nodeName ?? hostname().toLowerCase() } }),
    upstreams: readResolvConf(await readFile("/etc/resolv.conf", "utf8").catch(() => ""), [listen.address, clusterAddress]),
    metrics,
    onListening: (place) => {
      log.info("Answering DNS", place);
      // The address may only now be there. Beside DNS itself, where CoreDNS has them.
      group.start("metrics", async (signal) => {
        await using _endpoint = await serveMetrics(metrics, { address: place.address, port: metricsPort }, log);
        await untilAborted(signal);
      });
    },
  });
  group.start("dns", (signal) => dns.run(signal));
  return { [Symbol.asyncDispose]: () => group.close() };
}

/** The tenth address of the service range, where pods look for DNS. */
export function dnsClusterAddress(serviceCidr: string): string {
  const { address } = gatewayAddress(serviceCidr);
  return address.includes(":") ? address.replace(/1$/, "a") : address.replace(/\d+$/, (last) => String(Number(last) + 9));
}

/** What the server may do: read Services, and make its own. */
function dnsRules(): PolicyRule[] {
  const read = ["get", "list", "watch"];
  return [
    { apiGroups: [""], resources: ["services", "namespaces"], verbs: read },
    { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: read },
    { apiGroups: [""], resources: ["services"], verbs: ["create"] },
    { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["create"] },
    { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], resourceNames: ["kube-dns-coracle"], verbs: ["update"] },
  ];
}
