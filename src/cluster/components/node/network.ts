/** The pod network as a component: set up before the kubelet starts pods; it stays when we stop, since pods go on running. */
import { isIPv4 } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { TaskGroup } from "../../../base/task-group.ts";
import type { Programs } from "../../../host/index.ts";
import {
  cniConfig,
  policyRules,
  RangeInUse,
  resetNetwork,
  runNodeRoutes,
  runPolicyEnforcer,
  setUpNodeNetwork,
  writeCniConfig,
} from "../../../network/index.ts";
import type { Environment } from "../../environment.ts";
import { ensureComponentRole } from "../../component-role.ts";
import { instanceId } from "../../instance-id.ts";
import { borrowPrograms } from "../../shared-programs.ts";
import type { UpOptions } from "../../commands/up-options.ts";
import { chooseDataPlane } from "./choose-runtime.ts";
import type { ComponentContext } from "../start-components.ts";

export { resetNetwork };

/** The proxy's identity, which every node has: what it may read (nodes, Services), and what is added here. */
const user = "system:kube-proxy";

/** Where the runtime finds the CNI configuration of an instance. */
export function cniConfDirectory(dataDir: string): string {
  return join(dataDir, "cni", "net.d");
}

/** Where the address plugin of that configuration notes which address is taken. */
export function addressDirectory(dataDir: string): string {
  return join(dataDir, "cni", "addresses");
}

export async function startNetwork(context: ComponentContext): Promise<AsyncDisposable> {
  const { environment, options, api, certificates, transportFor } = context;
  const running = new AsyncDisposableStack();
  try {
    const { programs } = running.use(borrowPrograms(environment));
    if ((await chooseDataPlane(options, programs)) !== "nft") return running;
    await setUp(environment, options, programs);
    const log = environment.log.with({ component: "network" });
    const group = new TaskGroup({ onFailure: (name, error) => log.error("A component failed", { name, error }) });
    running.defer(() => group.close());
    // On a node that has joined, the cluster has seen to it.
    if (await certificates.canSign()) await ensureComponentRole(context, { name: "system:coracle-network", user, rules: policyRules() });
    const shared = {
      ...environment,
      log,
      programs,
      transport: transportFor({ username: user, groups: ["system:authenticated"] }),
      nodeName: options.nodeName ?? hostname().toLowerCase(),
    };
    const server = new URL(api.url).hostname;
    const serverAddress = isIPv4(server) && !server.startsWith("127.") ? server : undefined;
    group.start("routes", (signal) => runNodeRoutes({ ...shared, clusterCidrs: options.podCidrs, serverAddress }, signal));
    const families = options.podCidrs.some((cidr) => cidr.includes(":")) ? (["IPv4", "IPv6"] as const) : (["IPv4"] as const);
    group.start("policies", (signal) => runPolicyEnforcer({ ...shared, instanceId: instanceId(options.dataDir), families }, signal));
    return running;
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
}

async function setUp(environment: Environment, options: UpOptions, programs: Programs): Promise<void> {
  try {
    const id = instanceId(options.dataDir);
    await setUpNodeNetwork({
      programs,
      log: environment.log.with({ component: "network" }),
      instanceId: id,
      podCidrs: options.nodePodCidrs,
      clusterCidrs: options.podCidrs,
      serviceCidrs: options.serviceCidrs,
      loadBalancerCidrs: options.loadBalancerCidrs,
    });
    await writeCniConfig(
      cniConfDirectory(options.dataDir),
      cniConfig({ instanceId: id, podCidrs: options.nodePodCidrs, addressDirectory: addressDirectory(options.dataDir) }),
    );
  } catch (error) {
    if (error instanceof RangeInUse) throw error;
    throw new Error(
      `could not set up the pod network (${error instanceof Error ? error.message : String(error)}): run as root with nftables and iproute2, or use --runtime process`,
      { cause: error },
    );
  }
}
