/** The pod network as a component: set up before the kubelet starts pods; it stays when we stop, since pods go on running. */
import { join } from "node:path";
import { cniConfig, resetNetwork, setUpNodeNetwork, writeCniConfig } from "../../network/index.ts";
import { instanceId } from "../instance-id.ts";
import { borrowPrograms } from "../shared-programs.ts";
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
    const id = instanceId(options.dataDir);
    await setUpNodeNetwork({
      programs: borrowed.programs,
      log: environment.log.with({ component: "network" }),
      instanceId: id,
      podCidrs: options.podCidrs,
      clusterCidrs: options.podCidrs,
      serviceCidrs: options.serviceCidrs,
    });
    await writeCniConfig(
      cniConfDirectory(options.dataDir),
      cniConfig({ instanceId: id, podCidrs: options.podCidrs, addressDirectory: join(options.dataDir, "cni", "addresses") }),
    );
    return borrowed;
  } catch (error) {
    await borrowed[Symbol.asyncDispose]();
    throw new Error(
      `could not set up the pod network (${error instanceof Error ? error.message : String(error)}): run as root with nftables and iproute2, or use --runtime process`,
      { cause: error },
    );
  }
}
