import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { selectorFromLabels } from "../../apimachinery/selectors/label-selector.ts";
import { resources } from "../../client/index.ts";
import { planReplicas } from "./plan.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Action, ActionResult, UpdateAction } from "../../operator/index.ts";
import type { PodSet } from "./plan.ts";

const nowMs = Date.UTC(2026, 0, 1, 1);
const labels = { app: "a" };
const set = (replicas: number, more: Partial<PodSet> = {}): PodSet => ({
  resource: resources.replicaSets,
  object: { metadata: { name: "a", namespace: "x", uid: "set", generation: 1 } },
  selector: selectorFromLabels(labels),
  template: { metadata: { labels } },
  replicas,
  minReadySeconds: 0,
  status: { replicas: 0 },
  countsTerminating: true,
  ...more,
});
const owner = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "a", uid: "set", controller: true }];
const pod = (name: string, more: { phase?: string; ready?: string; labels?: Record<string, string>; isOrphan?: boolean; isLeaving?: boolean } = {}): Pod => ({
  metadata: {
    name,
    namespace: "x",
    uid: name,
    creationTimestamp: "2026-01-01T00:00:00Z",
    labels: more.labels ?? labels,
    ...(more.isOrphan !== true && { ownerReferences: owner }),
    ...(more.isLeaving === true && { deletionTimestamp: "2026-01-01T00:30:00Z" }),
  },
  status: {
    phase: more.phase ?? "Running",
    ...(more.ready !== undefined && { conditions: [{ type: "Ready", status: "True", lastTransitionTime: more.ready }] }),
  },
});

function summary(action: Action): string {
  if (action.kind === "group") return `${action.mode} ${action.actions.map(summary).join(",")}`;
  return action.kind === "create" ? "create" : `${action.kind} ${"name" in action ? action.name : ""}`;
}

const cases: { name: string; set: PodSet; pods: Pod[]; expect: string[] }[] = [
  { name: "as many as wanted", set: set(1), pods: [pod("p")], expect: [] },
  { name: "too few", set: set(3), pods: [pod("p")], expect: ["slowStart create,create"] },
  { name: "too many", set: set(0), pods: [pod("p"), pod("q", { ready: "2026-01-01T00:00:00Z" })], expect: ["parallel delete p,delete q"] },
  {
    name: "finished and leaving pods do not count",
    set: set(1),
    pods: [pod("f", { phase: "Failed" }), pod("l", { isLeaving: true })],
    expect: ["slowStart create"],
  },
  { name: "an orphan is adopted", set: set(1), pods: [pod("o", { isOrphan: true })], expect: ["confirm a", "patch o"] },
  { name: "a pod relabelled is released and replaced", set: set(1), pods: [pod("r", { labels: {} })], expect: ["patch r", "slowStart create"] },
  {
    name: "a set that is leaving does nothing",
    set: set(3, { object: { metadata: { name: "a", namespace: "x", uid: "set", deletionTimestamp: "2026-01-01T00:00:00Z" } } }),
    pods: [pod("o", { isOrphan: true })],
    expect: [],
  },
];
for (const { name, set: wanted, pods, expect } of cases) {
  test(`replica set: ${name}`, () => deepEqual(planReplicas({ set: wanted, candidates: pods }, nowMs).actions.map(summary), expect));
}

function statusAfter(wanted: PodSet, pods: Pod[], failure?: Error): [status: unknown, requeueAfterMs: number | undefined] {
  const results: ActionResult[] = [];
  const next = planReplicas({ set: wanted, candidates: pods }, nowMs).next?.({ results, failure, isStopped: false });
  return [(next?.actions[0] as UpdateAction | undefined)?.object.status, next?.requeueAfterMs];
}

test("replica set: the status counts what was there", () => {
  const pods = [pod("p", { ready: "2026-01-01T00:00:00Z" }), pod("q"), pod("l", { isLeaving: true })];
  deepEqual(statusAfter(set(2), pods), [
    { replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 1, availableReplicas: 1, terminatingReplicas: 1, observedGeneration: 1 },
    undefined,
  ]);
});

test("replica set: ready pods become available later", () => {
  const [status, requeueAfterMs] = statusAfter(set(1, { minReadySeconds: 60 }), [pod("p", { ready: "2026-01-01T00:59:30Z" })]);
  deepEqual([(status as { availableReplicas?: number }).availableReplicas, requeueAfterMs], [undefined, 30_000]);
});

test("replica set: a failure is told of, and forgotten when all goes well", () => {
  const condition = { type: "ReplicaFailure", status: "True", lastTransitionTime: "2026-01-01T01:00:00Z", reason: "FailedCreate", message: "quota" };
  deepEqual((statusAfter(set(1), [], new Error("quota"))[0] as { conditions: unknown }).conditions, [condition]);
  const known = { replicas: 1, fullyLabeledReplicas: 1, terminatingReplicas: 0, observedGeneration: 1, conditions: [condition] };
  deepEqual(statusAfter(set(1, { status: known }), [pod("p")])[0], { replicas: 1, fullyLabeledReplicas: 1, terminatingReplicas: 0, observedGeneration: 1 });
});
