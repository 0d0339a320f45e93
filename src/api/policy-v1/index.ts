import type { KindStrategy } from "../strategy.ts";
import { podDisruptionBudgets } from "./poddisruptionbudget.ts";

export const policyV1Strategies: readonly KindStrategy[] = [podDisruptionBudgets];
