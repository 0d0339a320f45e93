/** Which pod ranges nodes get (`spec.podCIDRs`; kube-controller-manager's --allocate-node-cidrs). */
import { resources } from "../../client/index.ts";
import { eventAction, patchAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { shareCount, sharesIn, shareText } from "./shares.ts";
import type { ShareRange } from "./shares.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node } from "../../api/core-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

export interface IpamSnapshot {
  readonly nodes: readonly DeepReadonly<Node>[];
  /** One for each family. */
  readonly ranges: readonly ShareRange[];
  /** Ranges that nodes may not get anything of: those of Services. */
  readonly reserved: readonly string[];
  /** For each range, the share to look at first: freed shares come again only after all others. */
  readonly cursors: readonly number[];
}

export interface Allotment {
  readonly node: DeepReadonly<Node>;
  /** Undefined when a range has no free share. */
  readonly podCidrs: readonly string[] | undefined;
}

/** A share of each range for each node that has none yet, by name; and where the next look begins. */
export function allot({ nodes, ranges, reserved, cursors }: IpamSnapshot): { readonly allotments: readonly Allotment[]; readonly cursors: readonly number[] } {
  const waiting = nodes.filter((node) => podCidrsOf(node).length === 0).sort((a, b) => byAge(a, b));
  const pools = ranges.map((range, index) => new Pool(range, [...reserved, ...nodes.flatMap(podCidrsOf)], cursors[index] ?? 0));
  const allotments = waiting.map((node) => {
    const shares = pools.map((pool) => pool.next());
    const isWhole = shares.every((share) => share !== undefined);
    if (isWhole) for (const [index, share] of shares.entries()) pools[index]!.take(share);
    return { node, podCidrs: isWhole ? shares.map((share, index) => shareText(ranges[index]!, share)) : undefined };
  });
  return { allotments, cursors: pools.map(({ cursor }) => cursor) };
}

export function planPodCidrs(allotments: readonly Allotment[]): Plan {
  const actions = allotments.map(({ node, podCidrs }): Action => {
    if (podCidrs === undefined)
      return eventAction(referenceOf(node), {
        type: "Normal",
        reason: "CIDRNotAvailable",
        message: `Node ${node.metadata.name} status is now: CIDRNotAvailable`,
      });
    return patchAction(resources.nodes, node, { type: "strategic", body: { spec: { podCIDR: podCidrs[0]!, podCIDRs: [...podCidrs] } } }, { onError: whenGone });
  });
  return { actions, reasons: allotments.map(({ node, podCidrs }) => `${node.metadata.name}: ${podCidrs?.join(", ") ?? "no range is left"}`) };
}

/** Shares of one range: which are taken, and where to look next. */
class Pool {
  readonly #range: ShareRange;
  readonly #taken = new Set<number>();
  cursor: number;

  constructor(range: ShareRange, taken: readonly string[], cursor: number) {
    this.#range = range;
    this.cursor = cursor;
    for (const text of taken) {
      const [first, last] = sharesIn(range, text) ?? [0, -1];
      for (let share = first; share <= last; share++) this.#taken.add(share);
    }
  }

  next(): number | undefined {
    const count = shareCount(this.#range);
    for (let step = 0; step < count; step++) {
      const share = (this.cursor + step) % count;
      if (!this.#taken.has(share)) return share;
    }
    return undefined;
  }

  take(share: number): void {
    this.#taken.add(share);
    this.cursor = (share + 1) % shareCount(this.#range);
  }
}

function podCidrsOf({ spec }: DeepReadonly<Node>): readonly string[] {
  if ((spec?.podCIDRs ?? []).length > 0) return spec!.podCIDRs!;
  return spec?.podCIDR === undefined || spec.podCIDR === "" ? [] : [spec.podCIDR];
}

function byAge(a: DeepReadonly<Node>, b: DeepReadonly<Node>): number {
  const [left, right] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ""} ${metadata.name!}`) as [string, string];
  return left < right ? -1 : left > right ? 1 : 0;
}

function referenceOf({ metadata: { name = "", uid = "" } }: DeepReadonly<Node>) {
  return { kind: "Node", apiVersion: "v1", name, uid };
}
