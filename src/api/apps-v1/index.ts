import type { KindStrategy } from "../strategy.ts";
import { deployments } from "./deployment.ts";
import { replicaSets } from "./replicaset.ts";

export const appsV1Strategies: readonly KindStrategy[] = [deployments, replicaSets];
