import type { KindStrategy } from "../strategy.ts";
import { evictionRequests, evictions } from "./evictions.ts";

export const lifecycleV1alpha1Strategies: readonly KindStrategy[] = [evictionRequests, evictions];
