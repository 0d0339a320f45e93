/** Kinds served in another version than they are stored in: how objects pass between the two. */
import type { KubeObject } from "../apimachinery/object.ts";
import { autoscalerConversion } from "./autoscaling-v1/index.ts";
import { eventFromCore, eventToCore } from "./events-v1/conversion.ts";

export interface VersionConversion {
  fromStored(object: KubeObject): KubeObject;
  toStored(object: KubeObject): KubeObject;
}

/** By `group/version/Kind` of the served version. */
export const conversions: ReadonlyMap<string, VersionConversion> = new Map<string, VersionConversion>([
  ["autoscaling/v1/HorizontalPodAutoscaler", autoscalerConversion],
  ["events.k8s.io/v1/Event", { fromStored: (object) => eventFromCore(object as unknown as Parameters<typeof eventFromCore>[0]), toStored: (object) => eventToCore(object as unknown as Parameters<typeof eventToCore>[0]) }],
]);
