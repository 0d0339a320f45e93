/** Words that the simulations share. */
import type { Random } from "../../base/random.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Pod, PodTemplateSpec } from "../../api/core-v1/types.ts";

/** One of them; undefined of none. */
export function someOf<T>(random: Random, all: readonly T[]): T | undefined {
  return all.length === 0 ? undefined : all[random.integer(all.length)];
}

/** With label `app: web`. */
export function podTemplate(image: string, restartPolicy: "Always" | "Never" = "Always"): PodTemplateSpec {
  return { metadata: { labels: { app: "web" } }, spec: { restartPolicy, containers: [{ name: "c", image }] } };
}

/** Neither ended nor about to be. */
export function isLive({ metadata, status }: DeepReadonly<Pod>): boolean {
  return metadata.deletionTimestamp === undefined && !hasEnded(status?.phase);
}

export function isReady({ metadata, status }: DeepReadonly<Pod>): boolean {
  return metadata.deletionTimestamp === undefined && status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;
}

/** Whether its managing owner has this name. */
export function ownedBy({ metadata }: DeepReadonly<KubeObject>, name: string): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller === true && owner.name === name) === true;
}

function hasEnded(phase: string | undefined): boolean {
  return phase === "Succeeded" || phase === "Failed";
}
