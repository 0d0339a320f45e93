import type { KindStrategy } from "../strategy.ts";
import { leases } from "./lease.ts";

export const coordinationV1Strategies: readonly KindStrategy[] = [leases];
