import { resources } from "../../client/index.ts";
import { nothingToDo, patchAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node } from "../../api/core-v1/types.ts";
import type { Plan } from "../../operator/index.ts";

/** Nodes are told how long they may cache secrets and config maps, by the size of the cluster. */
export function planTtl({ node, ttlSeconds }: TtlSnapshot): Plan {
  const value = String(ttlSeconds);
  if (node.metadata.annotations?.[ttlAnnotation] === value) return nothingToDo;
  const body = { metadata: { annotations: { [ttlAnnotation]: value } } };
  return { actions: [patchAction(resources.nodes, node, { type: "strategic", body }, { onError: whenGone })] };
}

export interface TtlSnapshot {
  readonly node: DeepReadonly<Node>;
  readonly ttlSeconds: number;
}

/** The step that a cluster of this size is at, coming from another: steps overlap, so that a size at their border does not sway them. */
export function ttlStep(step: number, nodeCount: number): number {
  if (nodeCount > ttlSteps[step]!.most && step < ttlSteps.length - 1) return ttlStep(step + 1, nodeCount);
  return nodeCount < ttlSteps[step]!.least && step > 0 ? ttlStep(step - 1, nodeCount) : step;
}

export const ttlSteps = [
  { least: 0, most: 100, seconds: 0 },
  { least: 90, most: 500, seconds: 15 },
  { least: 450, most: 1000, seconds: 30 },
  { least: 900, most: 2000, seconds: 60 },
  { least: 1800, most: 10_000, seconds: 300 },
  { least: 9000, most: Number.POSITIVE_INFINITY, seconds: 600 },
] as const;

const ttlAnnotation = "node.alpha.kubernetes.io/ttl";
