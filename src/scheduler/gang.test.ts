/** Groups of pods that get nodes together or not at all, in a cluster that serves them. */
import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { StatusError } from "../apimachinery/status.ts";
import { resources } from "../client/index.ts";
import { TestCluster } from "../testing/index.ts";
import { createScheduler } from "./scheduler.ts";
import { nodeOf, podOf } from "./test-support/cluster.ts";
import type { Pod } from "../api/core-v1/types.ts";

const served = { "feature-gates": "GenericWorkload=true", "runtime-config": "scheduling.k8s.io/v1beta1=true" };

async function start(flags: Readonly<Record<string, string>> = served): Promise<TestCluster> {
  const cluster = await TestCluster.start({
    flags,
    components: {
      scheduler: (context) =>
        createScheduler({
          ...context,
          transport: context.transportFor({ username: "system:kube-scheduler", groups: ["system:authenticated"] }),
          gates: { GenericWorkload: true },
        }).run(context.signal),
    },
  });
  await cluster.client
    .create(resources.serviceAccounts, { metadata: { name: "default", namespace: "default" } })
    .catch((error: unknown) => ok(error instanceof StatusError));
  return cluster;
}

async function addNode(cluster: TestCluster, name: string, cpu: string): Promise<void> {
  const room = { cpu, memory: "8Gi", pods: "110" };
  await cluster.client.create(resources.nodes, nodeOf(name, { allocatable: room, capacity: room }));
  await cluster.client.patch(resources.nodes, "", name, { type: "merge", body: { spec: { taints: null } } });
}

async function addGroup(cluster: TestCluster, minCount: number): Promise<void> {
  await cluster.client.create(resources.podGroups, { metadata: { name: "g", namespace: "default" }, spec: { schedulingPolicy: { gang: { minCount } } } });
}

async function addPods(cluster: TestCluster, names: readonly string[], spec: Parameters<typeof podOf>[1] = {}): Promise<void> {
  for (const name of names) {
    const { metadata, spec: own } = podOf(name, { requests: { cpu: "1" }, schedulingGroup: { podGroupName: "g" }, ...spec });
    const pod: Pod = { metadata: { name: metadata.name!, namespace: "default" }, spec: { ...own, automountServiceAccountToken: false } };
    await cluster.client.create(resources.pods, pod);
  }
}

async function placed(cluster: TestCluster): Promise<Record<string, string>> {
  const pods = (await cluster.client.list(resources.pods, "default")).items ?? [];
  return Object.fromEntries(pods.map(({ metadata, spec }) => [metadata.name!, spec?.nodeName ?? ""]).sort());
}

const messageOf = async (cluster: TestCluster, name: string) =>
  (await cluster.client.get(resources.pods, "default", name)).status?.conditions?.find(({ type }) => type === "PodScheduled")?.message;
const groupCondition = async (cluster: TestCluster) => {
  const conditions = (await cluster.client.get(resources.podGroups, "default", "g")).status?.conditions ?? [];
  return conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
};

test("gang: pods wait for their group and for enough of them, then all get nodes", async () => {
  await using cluster = await start();
  await addNode(cluster, "n", "4");
  await addPods(cluster, ["a", "b"]);
  await cluster.settled();
  deepEqual(await placed(cluster), { a: "", b: "" });
  await addGroup(cluster, 3);
  await cluster.settled();
  deepEqual(await placed(cluster), { a: "", b: "" });
  await addPods(cluster, ["c"]);
  await cluster.settled();
  deepEqual(await placed(cluster), { a: "n", b: "n", c: "n" });
  deepEqual(await groupCondition(cluster), ["PodGroupScheduled True Scheduled"]);
  await addPods(cluster, ["d"]);
  await cluster.settled();
  equal((await placed(cluster))["d"], "n");
});

test("gang: none is bound while not enough fit, and room that they would have taken is free for others", async () => {
  await using cluster = await start();
  await addNode(cluster, "n", "2");
  await addGroup(cluster, 3);
  await addPods(cluster, ["a", "b", "c"]);
  await cluster.settled();
  deepEqual(await placed(cluster), { a: "", b: "", c: "" });
  equal(await messageOf(cluster, "a"), `pod group "g" needs 3 pods to run together, and there is room for 2`);
  equal(await messageOf(cluster, "c"), "0/1 nodes are available: 1 Insufficient cpu.");
  deepEqual(await groupCondition(cluster), ["PodGroupScheduled False Unschedulable"]);
  await cluster.client.create(resources.pods, {
    metadata: { name: "z", namespace: "default" },
    spec: { ...podOf("z", { requests: { cpu: "500m" } }).spec, automountServiceAccountToken: false },
  });
  await cluster.settled();
  equal((await placed(cluster))["z"], "n");
  await addNode(cluster, "m", "2");
  await cluster.settled();
  deepEqual(
    Object.values(await placed(cluster)).filter((node) => node === ""),
    [],
  );
  deepEqual(await groupCondition(cluster), ["PodGroupScheduled True Scheduled"]);
});

test("gang: less important pods leave only if that is enough for the gang", async () => {
  await using cluster = await start();
  await cluster.client.create(resources.priorityClasses, { metadata: { name: "high" }, value: 100 });
  await addNode(cluster, "n", "2");
  for (const name of ["x", "y"])
    await cluster.client.create(resources.pods, {
      metadata: { name, namespace: "default" },
      spec: { ...podOf(name, { requests: { cpu: "1" } }).spec, terminationGracePeriodSeconds: 0, automountServiceAccountToken: false },
    });
  await cluster.settled();
  await addGroup(cluster, 3);
  await addPods(cluster, ["a", "b", "c"], { priorityClassName: "high" });
  await cluster.settled();
  deepEqual(await placed(cluster), { a: "", b: "", c: "", x: "n", y: "n" });
  await addNode(cluster, "m", "1");
  await cluster.settled();
  const nodes = Object.values(await placed(cluster)).sort();
  deepEqual(nodes, ["m", "n", "n"]);
});

test("gang: where groups are not served the gate does nothing", async () => {
  await using cluster = await start({});
  await addNode(cluster, "n", "4");
  await addPods(cluster, ["a"]);
  await cluster.settled();
  deepEqual(await placed(cluster), { a: "n" });
});
