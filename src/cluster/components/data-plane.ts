import { createNft, findOnPath } from "../../host/index.ts";
import type { Programs } from "../../host/index.ts";
import type { ProxyMode } from "../../proxy/index.ts";
import type { UpOptions } from "../up-options.ts";

/**
 * Who carries traffic to Services: the kernel for pods that are containers, our forwarder for pods that are processes, nobody for
 * simulated ones. `auto` means containers where root, nftables and containerd are there.
 */
export async function chooseDataPlane({ runtime }: Pick<UpOptions, "runtime">, programs: Programs): Promise<ProxyMode> {
  switch (runtime) {
    case "simulated":
      return "none";
    case "process":
      return "forwarder";
    case "containerd":
      return "nft";
    case "auto": {
      const hasContainerd = process.geteuid?.() === 0 && (await findOnPath("containerd", process.env["PATH"] ?? "")) !== undefined;
      return hasContainerd && (await createNft({ programs }).version()) !== undefined ? "nft" : "forwarder";
    }
  }
}
