import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { inDeletionOrder, podsPerNode } from "./deletion-order.ts";
import type { Pod } from "../../api/core-v1/types.ts";

const nowMs = Date.UTC(2026, 0, 2);
const minutesAgo = (minutes: number) => new Date(nowMs - minutes * 60_000).toISOString().replace(".000Z", "Z");
interface Traits {
  node?: string;
  phase?: string;
  readyMinutes?: number;
  restarts?: number;
  cost?: string;
  ageMinutes?: number;
}
const pod = (name: string, { node, phase = "Running", readyMinutes, restarts = 0, cost, ageMinutes = 100 }: Traits): Pod => ({
  metadata: {
    name,
    uid: name,
    creationTimestamp: minutesAgo(ageMinutes),
    ...(cost !== undefined && { annotations: { "controller.kubernetes.io/pod-deletion-cost": cost } }),
  },
  spec: { containers: [], ...(node !== undefined && { nodeName: node }) },
  status: {
    phase,
    ...(readyMinutes !== undefined && { conditions: [{ type: "Ready", status: "True", lastTransitionTime: minutesAgo(readyMinutes) }] }),
    containerStatuses: [{ name: "c", restartCount: restarts, ready: true, image: "", imageID: "" }],
  },
});

const cases: { name: string; pods: Pod[]; expect: string[] }[] = [
  { name: "on no node first", pods: [pod("bound", { node: "n" }), pod("free", {})], expect: ["free", "bound"] },
  { name: "pending before running", pods: [pod("runs", { node: "n" }), pod("waits", { node: "n", phase: "Pending" })], expect: ["waits", "runs"] },
  { name: "unready before ready", pods: [pod("ready", { node: "n", readyMinutes: 9 }), pod("not", { node: "n" })], expect: ["not", "ready"] },
  {
    name: "cheap before dear",
    pods: [pod("dear", { node: "n", cost: "5" }), pod("odd", { node: "n", cost: "x" }), pod("cheap", { node: "n", cost: "-3" })],
    expect: ["cheap", "odd", "dear"],
  },
  { name: "from crowded nodes first", pods: [pod("a", { node: "n" }), pod("b", { node: "m" }), pod("c", { node: "m" })], expect: ["b", "c", "a"] },
  {
    name: "ready for less long first",
    pods: [pod("old", { node: "n", readyMinutes: 60 }), pod("new", { node: "n", readyMinutes: 1 })],
    expect: ["new", "old"],
  },
  { name: "more restarts first", pods: [pod("calm", { node: "n" }), pod("restless", { node: "n", restarts: 4 })], expect: ["restless", "calm"] },
  {
    name: "younger first, by magnitude",
    pods: [pod("b", { node: "n", ageMinutes: 90 }), pod("a", { node: "n", ageMinutes: 100 }), pod("young", { node: "n", ageMinutes: 2 })],
    expect: ["young", "a", "b"],
  },
];

for (const { name, pods, expect } of cases) {
  test(`deletion order: ${name}`, () =>
    deepEqual(
      inDeletionOrder(pods, podsPerNode(pods), nowMs).map(({ metadata }) => metadata.name),
      expect,
    ));
}
