import type { KindStrategy } from "../strategy.ts";
import { priorityClasses } from "./priorityclass.ts";

export const schedulingV1Strategies: readonly KindStrategy[] = [priorityClasses];
