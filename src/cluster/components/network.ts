/** The pod network as a component: set up before the kubelet starts pods; it stays when we stop, since pods go on running. */
import { join } from "node:path";
import type { Programs } from "../../host/index.ts";
import { cniConfig, resetNetwork, setUpNodeNetwork, writeCniConfig } from "../../network/index.ts";
import type { Environment } from "../environment.ts";
import { instanceId } from "../instance-id.ts";
import { nodePodCidrs } from "../nodes/node-place.ts";
import { borrowPrograms } from "../shared-programs.ts";
import type { UpOptions } from "../up-options.ts";
import { chooseDataPlane } from "./choose-runtime.ts";
import type { ComponentContext } from "./start-components.ts";

export { resetNetwork };

/** Where the runtime finds the CNI configuration of an instance. */
export function cniConfDirectory(dataDir: string): string {
  return join(dataDir, "cni", "net.d");
}

export async function startNetwork({ environment, options }: ComponentContext): Promise<AsyncDisposable> {
  const borrowed = borrowPrograms(environment);
  try {
    if ((await chooseDataPlane(options, borrowed.programs)) !== "nft") return borrowed;
    await setUp(environment, options, borrowed.programs);
    return borrowed;
  } catch (error) {
    await borrowed[Symbol.asyncDispose]();
    throw error;
  }
}

async function setUp(environment: Environment, options: UpOptions, programs: Programs): Promise<void> {
  try {
    const id = instanceId(options.dataDir);
    const podCidrs = nodePodCidrs(options.podCidrs, options.nodeNumber);
    await setUpNodeNetwork({
      programs,
      log: environment.log.with({ component: "network" }),
      instanceId: id,
      podCidrs,
      clusterCidrs: options.podCidrs,
      serviceCidrs: options.serviceCidrs,
    });
    await writeCniConfig(
      cniConfDirectory(options.dataDir),
      cniConfig({ instanceId: id, podCidrs, addressDirectory: join(options.dataDir, "cni", "addresses") }),
    );
  } catch (error) {
    throw new Error(
      `could not set up the pod network (${error instanceof Error ? error.message : String(error)}): run as root with nftables and iproute2, or use --runtime process`,
      { cause: error },
    );
  }
}
