import type { KindStrategy } from "../strategy.ts";
import { controllerRevisions } from "./controllerrevision.ts";
import { daemonSets } from "./daemonset.ts";
import { deployments } from "./deployment.ts";
import { replicaSets } from "./replicaset.ts";
import { statefulSets } from "./statefulset.ts";

export const appsV1Strategies: readonly KindStrategy[] = [controllerRevisions, daemonSets, deployments, replicaSets, statefulSets];
