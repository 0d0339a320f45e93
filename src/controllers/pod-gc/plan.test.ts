import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { planPodCollection, surplusFinished } from "./plan.ts";
import type { Node, Pod } from "../../api/core-v1/types.ts";

const pod = (nodeName: string | undefined, isLeaving = false): Pod => ({
  metadata: { name: "p", namespace: "x", uid: "u", ...(isLeaving && { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 }) },
  spec: { containers: [], ...(nodeName !== undefined && { nodeName }) },
  status: { phase: "Running" },
});
const node = (ready: string, isOut = false): Node => ({
  metadata: { name: "n" },
  spec: isOut ? { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] } : {},
  status: { conditions: [{ type: "Ready", status: ready }] },
});
const cases: { name: string; pod: Pod; node?: Node; goneMs?: number; expect: unknown }[] = [
  { name: "on a node that is there", pod: pod("n"), node: node("True"), expect: [[], undefined] },
  { name: "waits for a node", pod: pod(undefined), expect: [[], undefined] },
  { name: "goes without ever having had a node", pod: pod(undefined, true), expect: [["delete"], undefined] },
  { name: "its node has just gone", pod: pod("n"), goneMs: 90_000, expect: [[], 30_000] },
  { name: "its node has long gone", pod: pod("n"), goneMs: 10_000, expect: [["patch", "delete"], undefined] },
  { name: "goes on a node that is out of service", pod: pod("n", true), node: node("False", true), expect: [["patch", "delete"], undefined] },
  { name: "stays on a node that is out of service", pod: pod("n"), node: node("False", true), expect: [[], undefined] },
  { name: "goes on a node that is only not ready", pod: pod("n", true), node: node("False"), expect: [[], undefined] },
];
for (const { name, pod: one, node: its, goneMs, expect } of cases) {
  test(`pod collection: ${name}`, () => {
    const plan = planPodCollection({ pod: one, node: its, nodeGoneSinceMs: goneMs, quarantineMs: 40_000 }, 100_000);
    deepEqual([plan.actions.map(({ kind }) => kind), plan.requeueAfterMs], expect);
  });
}

test("pod collection: the oldest finished pods beyond the threshold go", () => {
  const finished = (name: string, day: number, phase = "Failed"): Pod => ({
    metadata: { name, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
    status: { phase },
  });
  const pods = [finished("b", 2), finished("a", 1), finished("c", 3, "Succeeded"), finished("runs", 1, "Running")];
  deepEqual(
    [0, 1, 3].map((threshold) => surplusFinished(pods, threshold).map(({ metadata }) => metadata.name)),
    [[], ["a", "b"], []],
  );
});
