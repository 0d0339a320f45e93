import { createNft } from "../host/index.ts";
import type { Programs } from "../host/index.ts";
import { proxyTableName, removeNftTables } from "./nft/nft-dataplane.ts";

/** Removes the rules that an instance's proxy made, whether it runs or not. Without nft there are none. */
export async function resetProxy(options: { programs: Programs; instanceId: string }): Promise<void> {
  const nft = createNft({ programs: options.programs });
  if ((await nft.version()) === undefined) return;
  await removeNftTables(nft, proxyTableName(options.instanceId));
}
