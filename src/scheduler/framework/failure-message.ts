import type { Refusal } from "./refusal.ts";

/**
 * The text for a pod that no node can take: `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s).` `refusals`
 * says how many nodes have each refusal.
 */
export function failureMessage(nodes: number, refusals: Iterable<readonly [Refusal, number]>): string {
  const counts = new Map<string, number>();
  for (const [{ reasons }, count] of refusals) for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + count);
  const texts = Array.from(counts, ([reason, count]) => `${count} ${reason}`).sort();
  return texts.length === 0 ? `0/${nodes} nodes are available:` : `0/${nodes} nodes are available: ${texts.join(", ")}.`;
}

/** The text when a plugin refused all nodes at once. */
export function refusedByAllMessage(nodes: number, refusal: Refusal): string {
  return `0/${nodes} nodes are available: ${refusal.reasons.join(", ")}.`;
}

/** The text in a cluster without nodes. */
export const noNodesMessage = "no nodes available to schedule pods";
