import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../api/core-v1/types.ts";
import { planShutdown, shutdownMs } from "./shutdown-plan.ts";

const none = { shutdownGracePeriodMs: 0, shutdownGracePeriodCriticalPodsMs: 0, shutdownGracePeriodByPodPriority: [] };
const pods = [
  ["a", undefined],
  ["b", 100],
  ["c", 1000],
  ["d", 2_000_000_000],
  ["e", -5],
].map(([name, priority]): Pod => ({ metadata: { name: name as string }, spec: { ...(priority !== undefined && { priority: priority as number }) } }));
const plan = (settings: typeof none | object) =>
  planShutdown(pods, { ...none, ...settings }).map(({ seconds, pods: own }) => `${seconds} ${own.map(({ metadata }) => metadata.name).join("")}`);

test("shutdown: without time nothing is planned", () => deepEqual(plan({}), []));
test("shutdown: critical pods last", () => deepEqual(plan({ shutdownGracePeriodMs: 30_000, shutdownGracePeriodCriticalPodsMs: 10_000 }), ["20 abce", "10 d"]));
test("shutdown: by priority, in order; steps without pods are left out", () => {
  const shutdownGracePeriodByPodPriority = [
    { priority: 1000, shutdownGracePeriodSeconds: 5 },
    { priority: 0, shutdownGracePeriodSeconds: 7 },
    { priority: 500, shutdownGracePeriodSeconds: 9 },
  ];
  deepEqual(plan({ shutdownGracePeriodByPodPriority }), ["7 abe", "5 cd"]);
  equal(shutdownMs({ ...none, shutdownGracePeriodByPodPriority }), 21_000);
});
