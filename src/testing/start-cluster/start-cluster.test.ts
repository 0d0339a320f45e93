import { deepEqual, equal, match, ok, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import type { Deployment } from "../../api/apps-v1/types.ts";
import { resources } from "../../client/index.ts";
import { durationMs, elapsedText } from "./duration.ts";
import { onFailure } from "./failed-test.ts";
import { startCluster } from "./start-cluster.ts";
import type { Cluster } from "./start-cluster.ts";

const web = (replicas: number): Deployment => ({
  kind: "Deployment",
  apiVersion: "apps/v1",
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "nginx:1.29" }] } },
  },
});

test("a Deployment gets its pods, on nodes, available; decisions, placements and events tell how", async () => {
  await using cluster = await startCluster();
  await cluster.apply(web(3));
  const tookMs = await cluster.settled();
  ok(tookMs < 10_000, `${tookMs} ms`);
  equal((await cluster.client.get(resources.deployments, "default", "web")).status?.availableReplicas, 3);
  const scaled = cluster.decisions().find(({ controller }) => controller === "deployment-controller");
  equal(scaled?.key, "default/web");
  match(scaled?.actions.join() ?? "", /create replicasets default\/web-/);
  deepEqual(
    cluster.placements().map(({ kind }) => kind),
    ["assigned", "assigned", "assigned"],
  );
  ok((await cluster.events("default")).some(({ reason }) => reason === "ScalingReplicaSet"));
  match(cluster.story(), /deployment-controller event ScalingReplicaSet Deployment\/web: Scaled up replica set web-\w+ from 0 to 3/);
});

test("the same seed gives the same run, whichever cluster of the process it is", async () => {
  const run = async (seed: number) => {
    await using cluster = await startCluster({ seed });
    await cluster.apply(web(4));
    await cluster.settled();
    return cluster.story();
  };
  const first = await run(7);
  equal(await run(7), first);
  ok((await run(8)) !== first);
});

test("on the machine's time: nobody has to move it, and waits end when what they wait for is there", async () => {
  await using cluster = await startCluster({ clock: "real" });
  const beforeMs = Date.now();
  await cluster.apply(web(3));
  await cluster.until(async () => (await cluster.client.get(resources.deployments, "default", "web")).status?.availableReplicas === 3, "30s");
  ok(Math.abs(cluster.clock.nowMs() - Date.now()) < 1000);
  const [pod] = (await cluster.client.list(resources.pods, "default")).items;
  ok(Date.parse(pod!.metadata.creationTimestamp ?? "") >= Math.floor(beforeMs / 1000) * 1000);
  await cluster.settled({ quiet: "100ms" });
  await rejects(
    cluster.until(() => false, "50ms"),
    /not reached within 50 ms\n.*Scaled up replica set/s,
  );
  await rejects(startCluster({ clock: "real", startMs: 0 }), /startMs is for virtual time/);
});

test("clusters beside each other share nothing", async () => {
  const clusters: Cluster[] = await Promise.all(Array.from({ length: 10 }, (_, seed) => startCluster({ seed, nodes: 1 })));
  await Promise.all(
    clusters.map(async (cluster, index) => {
      await cluster.apply(web(index));
      await cluster.settled();
    }),
  );
  const counts = await Promise.all(clusters.map(async ({ client }) => (await client.list(resources.pods, "default")).items.length));
  deepEqual(counts, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await Promise.all(clusters.map((cluster) => cluster.close()));
});

test("time is the test's: a Job's deadline passes when it is told to", async () => {
  await using cluster = await startCluster();
  await cluster.apply(`
apiVersion: batch/v1
kind: Job
metadata: { name: slow }
spec:
  activeDeadlineSeconds: 3600
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: c, image: busybox }]
---
apiVersion: v1
kind: ConfigMap
metadata: { name: beside, namespace: kube-public }
`);
  await cluster.settled();
  const startMs = cluster.clock.nowMs();
  await cluster.advance("59m");
  equal((await cluster.client.get(resources.jobs, "default", "slow")).status?.active, 1);
  await cluster.advance("61s");
  equal((await cluster.client.get(resources.jobs, "default", "slow")).status?.conditions?.at(-1)?.reason, "DeadlineExceeded");
  equal(cluster.clock.nowMs() - startMs, 60 * 60_000 + 1000);
  equal((await cluster.client.get(resources.configMaps, "kube-public", "beside")).metadata.name, "beside");
});

test("a node that is stopped loses its pods to the others; one that comes back is ready again", async () => {
  await using cluster = await startCluster({ nodes: 2 });
  await cluster.apply(web(2));
  await cluster.settled();
  await cluster.stop("node-1");
  await cluster.advance("7m");
  const { items } = await cluster.client.list(resources.pods, "default");
  deepEqual(
    items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ spec }) => spec?.nodeName),
    ["node-2", "node-2"],
  );
  cluster.startNode("node-1");
  await cluster.settled();
  const { status } = await cluster.client.get(resources.nodes, "", "node-1");
  equal(status?.conditions?.find(({ type }) => type === "Ready")?.status, "True");
  equal((await cluster.client.list(resources.pods, "default")).items.length, 2);
  throws(() => cluster.startNode("node-9"), /there is node-1, node-2/);
});

test("claims get volumes, where their pods are", async () => {
  await using cluster = await startCluster();
  await cluster.apply(
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "i" }], volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] },
    },
  );
  await cluster.settled();
  equal((await cluster.client.get(resources.persistentVolumeClaims, "default", "data")).status?.phase, "Bound");
  equal((await cluster.client.get(resources.pods, "default", "p")).status?.phase, "Running");
});

test("custom resources are served once they are applied", async () => {
  await using cluster = await startCluster({
    nodes: 0,
    objects: [
      {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: "widgets.example.com" },
        spec: {
          group: "example.com",
          scope: "Namespaced",
          names: { plural: "widgets", singular: "widget", kind: "Widget" },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: { size: { type: "integer" } } } } } },
            },
          ],
        },
      },
    ],
  });
  const [widget] = await cluster.apply({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec: { size: 1 } });
  equal(widget?.metadata.namespace, "default");
  await rejects(cluster.apply({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "x" }, spec: { size: "big" } }), /spec\.size/);
  await rejects(cluster.apply({ apiVersion: "example.com/v1", kind: "Gadget", metadata: { name: "x" } }), /serves no Gadget/);
});

test("without controllers nothing acts by itself; with some, only those do", async () => {
  await using bare = await startCluster({ controllers: [], scheduler: false });
  await bare.apply(web(2));
  await bare.settled();
  equal((await bare.client.list(resources.replicaSets, "default")).items.length, 0);
  await using some = await startCluster({ controllers: ["deployment-controller"] });
  await some.apply(web(2));
  await some.settled();
  equal((await some.client.list(resources.replicaSets, "default")).items.length, 1);
  equal((await some.client.list(resources.pods, "default")).items.length, 0);
});

test("an identity has its own rights", async () => {
  await using cluster = await startCluster({ nodes: 0 });
  const nobody = cluster.clientFor("system:serviceaccount:default:default");
  await rejects(nobody.list(resources.secrets, "default"), /User "system:serviceaccount:default:default" cannot list resource "secrets"/);
});

test("a wait that fails tells what happened", async () => {
  await using cluster = await startCluster({ nodes: 1 });
  await cluster.apply(web(1));
  await rejects(
    cluster.until(() => false, "5s"),
    /not reached within 5000 ms\n[\s\S]*deployment-controller create replicasets default\/web-/,
  );
});

test("a failed test prints what happened, one that passed does not", async () => {
  const printed: string[] = [];
  const hooks: (() => void)[] = [];
  await onFailure({ after: (hook) => hooks.push(hook), passed: false }, () => printed.push("node:test"));
  await onFailure({ after: (hook) => hooks.push(hook), passed: true }, () => printed.push("passed"));
  await onFailure({ onTestFailed: (hook) => hooks.push(hook) }, () => printed.push("vitest"));
  for (const hook of hooks) hook();
  deepEqual(printed, ["node:test", "vitest"]);
});

test("durations are read and told", () => {
  deepEqual(["2h", "1m30s", "250ms", "3d", "1.5s"].map(durationMs), [7_200_000, 90_000, 250, 259_200_000, 1500]);
  for (const wrong of ["", "2", "h", "2 h", "-1s"]) throws(() => durationMs(wrong), RangeError);
  deepEqual([0, 20, 61_000, 3_723_500].map(elapsedText), ["0s", "0.02s", "1m1s", "1h2m3.5s"]);
});
