import { horizontalPodAutoscalers } from "../autoscaling-v2/horizontalpodautoscaler.ts";
import type { VersionConversion } from "../conversions.ts";
import { convertedStrategy } from "../converted-strategy.ts";
import type { KindStrategy } from "../strategy.ts";
import { autoscalerFromOld, autoscalerToOld } from "./conversion.ts";

export const autoscalerConversion: VersionConversion = {
  fromStored: (object) => autoscalerToOld(object as unknown as Parameters<typeof autoscalerToOld>[0]),
  toStored: (object) => autoscalerFromOld(object as unknown as Parameters<typeof autoscalerFromOld>[0]),
};

export const autoscalingV1Strategies: readonly KindStrategy[] = [
  convertedStrategy({ group: "autoscaling", version: "v1", kind: "HorizontalPodAutoscaler" }, horizontalPodAutoscalers, autoscalerConversion),
];
