import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { proportionalSizes, rollingLimits } from "./sizes.ts";
import type { Deployment, ReplicaSet } from "../../api/apps-v1/types.ts";

const deployment = (replicas: number, maxSurge: number | string, maxUnavailable: number | string): Deployment => ({
  metadata: { name: "web" },
  spec: { replicas, template: {}, strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } } },
});
const limits: [replicas: number, surge: number | string, unavailable: number | string, expect: { maxSurge: number; maxUnavailable: number }][] = [
  [4, "25%", "25%", { maxSurge: 1, maxUnavailable: 1 }],
  [10, "25%", "25%", { maxSurge: 3, maxUnavailable: 2 }],
  [1, "25%", "25%", { maxSurge: 1, maxUnavailable: 0 }],
  [3, 0, 0, { maxSurge: 0, maxUnavailable: 1 }],
  [3, 0, "10%", { maxSurge: 0, maxUnavailable: 1 }],
  [2, 0, 5, { maxSurge: 0, maxUnavailable: 2 }],
];
for (const [replicas, surge, unavailable, expect] of limits) {
  test(`rolling limits of ${replicas} with ${surge} and ${unavailable}`, () => deepEqual(rollingLimits(deployment(replicas, surge, unavailable)), expect));
}

const replicaSet = (name: string, replicas: number, maxReplicas: number): ReplicaSet => ({
  metadata: { name, creationTimestamp: "2026-01-01T00:00:00Z", annotations: { "deployment.kubernetes.io/max-replicas": String(maxReplicas) } },
  spec: { replicas },
});
const sharing: { name: string; to: number; sets: ReplicaSet[]; expect: Record<string, number> }[] = [
  { name: "from 10 to 15 in the middle of a rollout", to: 15, sets: [replicaSet("old", 8, 13), replicaSet("new", 5, 13)], expect: { old: 11, new: 7 } },
  { name: "from 10 to 5", to: 5, sets: [replicaSet("old", 8, 13), replicaSet("new", 5, 13)], expect: { old: 5, new: 3 } },
  { name: "to none", to: 0, sets: [replicaSet("old", 8, 13), replicaSet("new", 5, 13)], expect: { old: 0, new: 0 } },
];
for (const { name, to, sets, expect } of sharing) {
  test(`proportional sizes: ${name}`, () => {
    const sizes = proportionalSizes(deployment(to, 3, 2), sets);
    deepEqual(Object.fromEntries([...sizes].map(([{ metadata }, size]) => [metadata.name, size])), expect);
  });
}
