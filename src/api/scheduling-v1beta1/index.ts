import type { KindStrategy } from "../strategy.ts";
import { podGroups } from "./podgroup.ts";
import { workloads } from "./workload.ts";

export const schedulingV1beta1Strategies: readonly KindStrategy[] = [podGroups, workloads];
