import type { KindStrategy } from "../strategy.ts";
import { endpointSlices } from "./endpointslice.ts";

export const discoveryV1Strategies: readonly KindStrategy[] = [endpointSlices];
