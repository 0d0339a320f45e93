import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { StatusError } from "../../apimachinery/status.ts";
import { planDeployment } from "./plan.ts";
import type { Deployment, DeploymentSpec, ReplicaSet } from "../../api/apps-v1/types.ts";
import type { Action, CreateAction, UpdateAction } from "../../operator/index.ts";

const nowMs = Date.UTC(2026, 0, 1);
const template = (version: string) => ({ metadata: { labels: { app: "web", v: version } }, spec: { containers: [{ name: "c", image: "web:1" }] } });
const progressing = {
  type: "Progressing",
  status: "True",
  reason: "ReplicaSetUpdated",
  message: "",
  lastUpdateTime: "2026-01-01T00:00:00Z",
  lastTransitionTime: "2026-01-01T00:00:00Z",
};

function deployment(spec: Partial<DeploymentSpec> = {}, annotations: Record<string, string> = { "deployment.kubernetes.io/revision": "2" }): Deployment {
  return {
    metadata: { name: "web", namespace: "x", uid: "d", generation: 2, annotations },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: "web" } },
      template: template("2"),
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 10,
      ...spec,
    },
    status: { conditions: [progressing] },
  };
}

function replicaSet(version: string, replicas: number, available = replicas, { desired = 4, revision = version } = {}): ReplicaSet {
  const notes = {
    "deployment.kubernetes.io/revision": revision,
    "deployment.kubernetes.io/desired-replicas": String(desired),
    "deployment.kubernetes.io/max-replicas": String(desired + 1),
  };
  return {
    metadata: {
      name: `web-${version}`,
      namespace: "x",
      uid: version,
      creationTimestamp: `2026-01-01T00:00:0${version}Z`,
      labels: { app: "web" },
      annotations: notes,
      ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "d", controller: true }],
    },
    spec: { replicas, template: template(version) },
    status: { replicas, availableReplicas: available, readyReplicas: available, terminatingReplicas: 0 },
  };
}

function summary(action: Action): string {
  switch (action.kind) {
    case "create":
      return `create with ${(action.object as ReplicaSet).spec?.replicas}`;
    case "update":
      return action.subresource === "status"
        ? "status"
        : `${action.object.metadata.name} ${action.resource.kind === "ReplicaSet" ? (action.object as ReplicaSet).spec?.replicas : "rolled back"}`;
    case "delete":
      return `delete ${action.name}`;
    default:
      return action.kind;
  }
}

const none = () => undefined;

const cases: { name: string; deployment?: Deployment; sets: ReplicaSet[]; expect: string[] }[] = [
  { name: "the first set is as large as wanted", sets: [], expect: ["create with 4"] },
  { name: "a new template starts with the surge", sets: [replicaSet("1", 4)], expect: ["create with 1"] },
  { name: "old pods go as availability allows", sets: [replicaSet("1", 4), replicaSet("2", 1, 0)], expect: ["web-1 3", "status"] },
  {
    name: "pods that a set is losing, whose status is late, make no room",
    sets: [replicaSet("0", 0, 4), replicaSet("1", 4), replicaSet("2", 1, 0)],
    expect: ["web-1 3", "status"],
  },
  { name: "old pods go as new ones come", sets: [replicaSet("1", 3), replicaSet("2", 2, 2)], expect: ["web-1 1", "status"] },
  { name: "new pods come as there is room", sets: [replicaSet("1", 3), replicaSet("2", 1)], expect: ["web-2 2", "status"] },
  { name: "unavailable old pods go first", sets: [replicaSet("1", 4, 2), replicaSet("2", 1, 1)], expect: ["web-1 2", "status"] },
  { name: "nothing while too little is available", sets: [replicaSet("1", 3), replicaSet("2", 2, 0)], expect: ["status"] },
  { name: "one set follows the size", deployment: deployment({ replicas: 6 }), sets: [replicaSet("2", 4)], expect: ["web-2 6"] },
  {
    name: "paused, only the size follows",
    deployment: {
      ...deployment({ paused: true, replicas: 6, template: template("3") }),
      status: { conditions: [{ ...progressing, reason: "DeploymentPaused" }] },
    },
    sets: [replicaSet("2", 4)],
    expect: ["web-2 6"],
  },
  { name: "pausing is told of", deployment: deployment({ paused: true }), sets: [replicaSet("2", 4)], expect: ["status"] },
  {
    name: "recreating, old pods go first",
    deployment: deployment({ strategy: { type: "Recreate" } }),
    sets: [replicaSet("1", 4)],
    expect: ["web-1 0", "status"],
  },
  {
    name: "recreating, and old pods are still there",
    deployment: deployment({ strategy: { type: "Recreate" } }),
    sets: [{ ...replicaSet("1", 0), status: { replicas: 2 } }],
    expect: ["status"],
  },
  { name: "recreating, once they are gone", deployment: deployment({ strategy: { type: "Recreate" } }), sets: [replicaSet("1", 0)], expect: ["create with 4"] },
  {
    name: "history is trimmed when all is done",
    deployment: deployment({ revisionHistoryLimit: 0 }),
    sets: [replicaSet("1", 0), replicaSet("2", 4)],
    expect: ["delete web-1", "status"],
  },
  {
    name: "a rollback",
    deployment: deployment({}, { "deprecated.deployment.rollback.to": "1" }),
    sets: [replicaSet("1", 0), replicaSet("2", 4)],
    expect: ["web rolled back"],
  },
  {
    name: "an old template is the newest again",
    deployment: deployment({ template: template("1") }),
    sets: [replicaSet("1", 0), replicaSet("2", 4)],
    expect: ["web-1 0"],
  },
];
for (const { name, deployment: wanted = deployment(), sets, expect } of cases) {
  test(`deployment: ${name}`, () =>
    deepEqual(planDeployment({ deployment: wanted, replicaSets: sets, pods: [], namesake: none }, nowMs).actions.map(summary), expect));
}

test("deployment: the progress deadline is waited for, and passes", () => {
  const stuck: Deployment = {
    ...deployment(),
    status: {
      observedGeneration: 2,
      replicas: 1,
      updatedReplicas: 1,
      unavailableReplicas: 4,
      terminatingReplicas: 0,
      conditions: [
        {
          type: "Available",
          status: "False",
          reason: "MinimumReplicasUnavailable",
          message: "Deployment does not have minimum availability.",
          lastUpdateTime: "2026-01-01T00:00:00Z",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
        progressing,
      ],
    },
  };
  const sets = [{ ...replicaSet("2", 4, 0), status: { replicas: 1, terminatingReplicas: 0 } }];
  deepEqual(planDeployment({ deployment: stuck, replicaSets: sets, pods: [], namesake: none }, nowMs), { actions: [], requeueAfterMs: 601_000 });
  const later = planDeployment({ deployment: stuck, replicaSets: sets, pods: [], namesake: none }, nowMs + 601_000);
  const written = (later.actions[0] as UpdateAction).object as Deployment;
  deepEqual(written.status?.conditions?.[1]?.reason, "ProgressDeadlineExceeded");
});

const taken = new StatusError({ message: "taken", reason: "AlreadyExists", code: 409 });
const takers: { name: string; taker: ReplicaSet | undefined; counts: boolean }[] = [
  { name: "nobody that the cache shows: it may be our own, whose answer was lost", taker: undefined, counts: false },
  { name: "our own of the same template", taker: replicaSet("2", 1), counts: false },
  { name: "our own of another template", taker: replicaSet("1", 4), counts: true },
  { name: "a stranger", taker: { ...replicaSet("2", 1), metadata: { name: "web-2", namespace: "x", uid: "stranger" } }, counts: true },
];
for (const { name, taker, counts } of takers) {
  test(`deployment: the name of the newest set is taken by ${name}`, () => {
    const { actions } = planDeployment({ deployment: deployment(), replicaSets: [], pods: [], namesake: () => taker }, nowMs);
    const { onError } = actions[0] as CreateAction;
    const decision = typeof onError === "function" ? onError(taken) : undefined;
    deepEqual(decision?.severity, "stop");
    deepEqual(
      decision?.actions?.map((action) => ((action as UpdateAction).object as Deployment).status?.collisionCount),
      counts ? [1] : [],
    );
  });
}
