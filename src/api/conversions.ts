/** Kinds served in another version than they are stored in: how objects pass between the two. */
import type { KubeObject } from "../apimachinery/object.ts";
import { autoscalerConversion } from "./autoscaling-v1/index.ts";
import { claimConversion, claimTemplateConversion, sliceConversion } from "./resource-v1beta1/conversion.ts";
import { eventFromCore, eventToCore } from "./events-v1/conversion.ts";

export interface VersionConversion {
  fromStored(object: KubeObject): KubeObject;
  toStored(object: KubeObject): KubeObject;
}

/** Of a kind whose fields are the same in two versions: only `apiVersion` differs. */
export function renaming(served: string, stored: string): VersionConversion {
  const as = (apiVersion: string) => (object: KubeObject) => ({ ...object, apiVersion });
  return { fromStored: as(served), toStored: as(stored) };
}

/** By `group/version/Kind` of the served version; versions that are not here have the fields of the stored one. */
export const conversions: ReadonlyMap<string, VersionConversion> = new Map<string, VersionConversion>([
  ["autoscaling/v1/HorizontalPodAutoscaler", autoscalerConversion],
  ["resource.k8s.io/v1beta1/ResourceClaim", claimConversion],
  ["resource.k8s.io/v1beta1/ResourceClaimTemplate", claimTemplateConversion],
  ["resource.k8s.io/v1beta1/ResourceSlice", sliceConversion],
  [
    "events.k8s.io/v1/Event",
    {
      fromStored: (object) => eventFromCore(object as unknown as Parameters<typeof eventFromCore>[0]),
      toStored: (object) => eventToCore(object as unknown as Parameters<typeof eventToCore>[0]),
    },
  ],
]);
