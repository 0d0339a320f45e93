import type { KindStrategy } from "../strategy.ts";
import { horizontalPodAutoscalers } from "./horizontalpodautoscaler.ts";

export const autoscalingV2Strategies: readonly KindStrategy[] = [horizontalPodAutoscalers];
