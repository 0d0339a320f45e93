/** Where pods run and who carries their traffic: decided in one place, since each component asks for itself, maybe in a process of its own. */
import { createNft } from "../../../host/index.ts";
import type { Programs } from "../../../host/index.ts";
import { missingContainerPackages } from "../../../kubelet/index.ts";
import type { ProxyMode } from "../../../proxy/index.ts";
import type { UpOptions } from "../../commands/up-options.ts";

export type RuntimeKind = "containerd" | "process" | "simulated";

export interface RuntimeChoice {
  readonly kind: RuntimeKind;
  /** Why containers cannot run here, and what to do, when they would have been chosen otherwise. */
  readonly because?: string;
}

/** `auto` means containers where they can run, else local processes. Throws when containers are asked for and cannot run. */
export async function chooseRuntime(options: UpOptions, programs: Programs): Promise<RuntimeChoice> {
  if (options.runtime === "process" || options.runtime === "simulated") return { kind: options.runtime };
  const because = await whyNoContainers(options, programs);
  if (because === undefined) return { kind: "containerd" };
  if (options.runtime === "containerd") throw new Error(`containers cannot run here: ${because}; or use --runtime process`);
  return { kind: "process", because };
}

/** The kernel for pods that are containers, our forwarder for pods that are processes, nobody for simulated ones. */
export async function chooseDataPlane(options: UpOptions, programs: Programs): Promise<ProxyMode> {
  return dataPlanes[(await chooseRuntime(options, programs)).kind];
}

const dataPlanes = { containerd: "nft", process: "forwarder", simulated: "none" } as const;

/** Undefined when containers can run. */
async function whyNoContainers({ containerdSocket }: UpOptions, programs: Programs): Promise<string | undefined> {
  if (process.geteuid?.() !== 0) return "it takes root: run as root";
  const needed = await missingContainerPackages(process.env["PATH"] ?? "");
  // A runtime that runs already brings its own programs; the network is ours.
  const missing = containerdSocket === undefined ? needed : needed.filter((name) => name === "nftables" || name === "iproute2");
  if (missing.length > 0) return `${missing.join(", ")} missing: install with apt-get install ${missing.join(" ")}`;
  if ((await createNft({ programs }).version()) === undefined) return "nft does not work here: it takes a kernel with nftables, and CAP_NET_ADMIN";
  return undefined;
}
