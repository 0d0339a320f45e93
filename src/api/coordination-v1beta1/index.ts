import type { KindStrategy } from "../strategy.ts";
import { leaseCandidates } from "./leasecandidate.ts";

export const coordinationV1beta1Strategies: readonly KindStrategy[] = [leaseCandidates];
