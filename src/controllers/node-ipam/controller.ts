import { resources } from "../../client/index.ts";
import { defineController, watch } from "../../operator/index.ts";
import { booleanFlag, numberFlag, textFlag } from "../flags.ts";
import { allot, planPodCidrs } from "./plan.ts";
import { shareRange } from "./shares.ts";
import type { Controller } from "../../operator/index.ts";
import type { ManagerFlags } from "../flags.ts";
import type { Allotment } from "./plan.ts";
import type { ShareRange } from "./shares.ts";

/** Gives nodes their pods' ranges. One key for all nodes: what one gets no other may have. */
export function nodeIpamController({ ranges, reserved }: IpamSettings): Controller {
  let cursors: readonly number[] = ranges.map(() => 0);
  return defineController<readonly Allotment[]>({
    name: "node-ipam-controller",
    account: "node-controller",
    // (The event source of kube-controller-manager's allocator.)
    eventSource: "cidrAllocator",
    workers: 1,
    watches: [watch(resources.nodes, { keys: () => ["nodes"] })],
    snapshot(_key, caches) {
      const { allotments, cursors: next } = allot({ nodes: caches.of(resources.nodes).list(), ranges, reserved, cursors });
      cursors = next;
      return allotments.length === 0 ? undefined : allotments;
    },
    plan: planPodCidrs,
  });
}

export interface IpamSettings {
  readonly ranges: readonly ShareRange[];
  readonly reserved: readonly string[];
}

/** Undefined without --allocate-node-cidrs or a --cluster-cidr. Throws RangeError for ranges that cannot be shared out. */
export function ipamSettings(flags: ManagerFlags): IpamSettings | undefined {
  const list = (name: string) => textFlag(flags, name, "").split(",").filter(Boolean);
  const clusterCidrs = list("cluster-cidr");
  if (!booleanFlag(flags, "allocate-node-cidrs", false) || clusterCidrs.length === 0) return undefined;
  const size = numberFlag(flags, "node-cidr-mask-size", 0);
  const prefixes = {
    IPv4: numberFlag(flags, "node-cidr-mask-size-ipv4", size === 0 ? 24 : size),
    IPv6: numberFlag(flags, "node-cidr-mask-size-ipv6", size === 0 ? 64 : size),
  };
  return { ranges: clusterCidrs.map((text) => shareRange(text, prefixes)), reserved: list("service-cluster-ip-range") };
}
