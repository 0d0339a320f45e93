/** Groups of pods that get nodes together or not at all, in a cluster that serves them. */
import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { StatusError } from "../../apimachinery/status.ts";
import { resources } from "../../client/index.ts";
import { TestCluster } from "../../testing/index.ts";
import { createScheduler } from "../scheduler.ts";
import { nodeOf, podOf } from "../test-support/cluster.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { PodGroupSpec } from "../../api/scheduling-v1beta1/types.ts";

const served = { "feature-gates": "GenericWorkload=true", "runtime-config": "scheduling.k8s.io/v1beta1=true" };

async function start(flags: Readonly<Record<string, string>> = served): Promise<TestCluster> {
  const gates = Object.fromEntries((flags["feature-gates"] ?? "GenericWorkload=true").split(",").map((pair) => [pair.split("=")[0]!, true]));
  const cluster = await TestCluster.start({
    flags,
    components: {
      scheduler: (context) =>
        createScheduler({
          ...context,
          transport: context.transportFor({ username: "system:kube-scheduler", groups: ["system:authenticated"] }),
          gates,
        }).run(context.signal),
    },
  });
  await cluster.client
    .create(resources.serviceAccounts, { metadata: { name: "default", namespace: "default" } })
    .catch((error: unknown) => ok(error instanceof StatusError));
  await cluster.client.create(resources.priorityClasses, { metadata: { name: "high" }, value: 100 });
  return cluster;
}

async function addNode(cluster: TestCluster, name: string, cpu: string, labels: Record<string, string> = {}): Promise<void> {
  const room = { cpu, memory: "8Gi", pods: "110" };
  await cluster.client.create(resources.nodes, nodeOf(name, { allocatable: room, capacity: room, labels }));
  await cluster.client.patch(resources.nodes, "", name, { type: "merge", body: { spec: { taints: null } } });
}

async function addGroup(cluster: TestCluster, minCount: number, spec: PodGroupSpec = {}, name = "g"): Promise<void> {
  const schedulingPolicy = minCount === 0 ? { basic: {} } : { gang: { minCount } };
  await cluster.client.create(resources.podGroups, { metadata: { name, namespace: "default" }, spec: { schedulingPolicy, ...spec } });
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
const groupCondition = async (cluster: TestCluster, name = "g") => {
  const conditions = (await cluster.client.get(resources.podGroups, "default", name)).status?.conditions ?? [];
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
  deepEqual(await groupCondition(cluster), ["PodGroupInitiallyScheduled True Scheduled"]);
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
  deepEqual(await groupCondition(cluster), ["PodGroupInitiallyScheduled False Unschedulable"]);
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
  deepEqual(await groupCondition(cluster), ["PodGroupInitiallyScheduled True Scheduled"]);
});

test("gang: less important pods leave only if that is enough for the gang", async () => {
  await using cluster = await start();
  await addNode(cluster, "n", "2");
  for (const name of ["x", "y"])
    await cluster.client.create(resources.pods, {
      metadata: { name, namespace: "default" },
      spec: { ...podOf(name, { requests: { cpu: "1" } }).spec, terminationGracePeriodSeconds: 0, automountServiceAccountToken: false },
    });
  await cluster.settled();
  await addGroup(cluster, 3, { priorityClassName: "high" });
  await addPods(cluster, ["a", "b", "c"]);
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

test("group without a minimum: those that fit get nodes, the others wait; once scheduled it says so for ever", async () => {
  await using cluster = await start();
  await addNode(cluster, "n", "2");
  await addGroup(cluster, 0);
  await addPods(cluster, ["a", "b", "c"]);
  await cluster.settled();
  deepEqual(Object.values(await placed(cluster)).sort(), ["", "n", "n"]);
  deepEqual(await groupCondition(cluster), ["PodGroupInitiallyScheduled True Scheduled"]);
  for (const name of ["a", "b", "c"]) await cluster.client.delete(resources.pods, "default", name, { gracePeriodSeconds: 0 });
  await addPods(cluster, ["d"], { requests: { cpu: "9" } });
  await cluster.settled();
  deepEqual(await placed(cluster), { d: "" });
  deepEqual(await groupCondition(cluster), ["PodGroupInitiallyScheduled True Scheduled"]);
});

test("group whose pods name several schedulers: none is scheduled", async () => {
  await using cluster = await start();
  await addNode(cluster, "n", "4");
  await addPods(cluster, ["other"], { schedulerName: "other" });
  await addPods(cluster, ["a"]);
  await addGroup(cluster, 2);
  await cluster.settled();
  deepEqual(await placed(cluster), { a: "", other: "" });
  equal(await messageOf(cluster, "a"), 'pod group "g" has pods of several schedulers');
});

const withTopology = { ...served, "feature-gates": "GenericWorkload=true,TopologyAwareWorkloadScheduling=true" };
const rack = "example.com/rack";
const inRack: PodGroupSpec = { schedulingConstraints: { topology: [{ key: rack }] } };

test("topology: all of a gang go to the domain that is fullest with them, later ones follow them or wait", async () => {
  await using cluster = await start(withTopology);
  for (const [name, cpu, domain] of [
    ["n1", "1", "small"],
    ["n2", "2", "tight"],
    ["n3", "1", "tight"],
    ["n4", "8", "wide"],
  ] as const)
    await addNode(cluster, name, cpu, { [rack]: domain });
  await addNode(cluster, "n5", "8");
  await addGroup(cluster, 2, inRack);
  await addPods(cluster, ["a", "b"]);
  await cluster.settled();
  ok(
    Object.values(await placed(cluster)).every((node) => ["n2", "n3"].includes(node)),
    JSON.stringify(await placed(cluster)),
  );
  await addPods(cluster, ["c", "d"]);
  await cluster.settled();
  deepEqual(Object.values(await placed(cluster)).sort(), ["", "n2", "n2", "n3"]);
  await addNode(cluster, "n6", "1", { [rack]: "tight" });
  await cluster.settled();
  deepEqual(Object.values(await placed(cluster)).sort(), ["n2", "n2", "n3", "n6"]);
});

test("topology: a gang waits while no domain has room for it, though the cluster has", async () => {
  await using cluster = await start(withTopology);
  await addGroup(cluster, 2, inRack);
  await addPods(cluster, ["a", "b"]);
  await addNode(cluster, "n0", "4");
  await cluster.settled();
  equal(await messageOf(cluster, "a"), 'no node is in a topology domain of pod group "g"');
  await addNode(cluster, "n1", "1", { [rack]: "x" });
  await addNode(cluster, "n2", "1", { [rack]: "y" });
  await cluster.settled();
  deepEqual(await placed(cluster), { a: "", b: "" });
  deepEqual(await groupCondition(cluster), ["PodGroupInitiallyScheduled False Unschedulable"]);
  await addNode(cluster, "n3", "1", { [rack]: "y" });
  await cluster.settled();
  deepEqual(Object.values(await placed(cluster)).sort(), ["n2", "n3"]);
});

const quick = { terminationGracePeriodSeconds: 0 };

test("group preemption: only as many leave as the gang needs, and pods before groups that leave as a whole", async () => {
  await using cluster = await start();
  await addNode(cluster, "n", "4");
  await addGroup(cluster, 2, { disruptionMode: { all: {} } }, "low");
  await addPods(cluster, ["l1", "l2"], { schedulingGroup: { podGroupName: "low" }, ...quick });
  for (const name of ["x", "y"]) await addPods(cluster, [name], { schedulingGroup: undefined as never, ...quick });
  await cluster.settled();
  await addGroup(cluster, 2, { priorityClassName: "high" });
  await addPods(cluster, ["a", "b"]);
  await cluster.settled();
  deepEqual(await placed(cluster), { a: "n", b: "n", l1: "n", l2: "n" });
  deepEqual(await groupCondition(cluster), ["PodGroupInitiallyScheduled True Scheduled"]);
});

test("preemption by a single pod: a group that leaves as a whole does so, and its own priority counts", async () => {
  await using cluster = await start();
  for (const name of ["n", "m"]) await addNode(cluster, name, "1");
  await addGroup(cluster, 2, { disruptionMode: { all: {} } }, "low");
  await addPods(cluster, ["l1", "l2"], { schedulingGroup: { podGroupName: "low" }, priorityClassName: "high", ...quick });
  await cluster.settled();
  await addPods(cluster, ["p"], { schedulingGroup: undefined as never, priorityClassName: "high" });
  await cluster.settled();
  deepEqual(Object.keys(await placed(cluster)), ["p"]);
  deepEqual(await groupCondition(cluster, "low"), ["PodGroupInitiallyScheduled True Scheduled", "DisruptionTarget True PreemptionByScheduler"]);
});

test("claims of a group: its pods share one, which is noted as the group's", async () => {
  const gates = "GenericWorkload=true,DRAWorkloadResourceClaims=true";
  await using cluster = await start({ ...served, "feature-gates": gates });
  const { client } = cluster;
  await addNode(cluster, "n", "4");
  await client.create(resources.deviceClasses, { metadata: { name: "gpu" }, spec: {} });
  const pool = { name: "n", generation: 1, resourceSliceCount: 1 };
  await client.create(resources.resourceSlices, { metadata: { name: "s" }, spec: { driver: "d", pool, nodeName: "n", devices: [{ name: "x" }] } });
  const claims = [{ name: "dev", resourceClaimTemplateName: "t" }];
  await addGroup(cluster, 2, { resourceClaims: claims });
  await addPods(cluster, ["a", "b"], { resourceClaims: claims });
  await cluster.settled();
  deepEqual(await placed(cluster), { a: "", b: "" });
  // What the controller does.
  const { uid = "" } = (await client.get(resources.podGroups, "default", "g")).metadata;
  const ownerReferences = [{ apiVersion: "scheduling.k8s.io/v1beta1", kind: "PodGroup", name: "g", uid, controller: true }];
  const devices = { requests: [{ name: "r", exactly: { deviceClassName: "gpu" } }] };
  await client.create(resources.resourceClaims, { metadata: { name: "shared", namespace: "default", ownerReferences }, spec: { devices } });
  const body = { status: { resourceClaimStatuses: [{ name: "dev", resourceClaimName: "shared" }] } };
  await client.patch(resources.podGroups, "default", "g", { type: "merge", subresource: "status", body });
  await cluster.settled();
  deepEqual(await placed(cluster), { a: "n", b: "n" });
  const { status } = await client.get(resources.resourceClaims, "default", "shared");
  deepEqual(status?.reservedFor, [{ apiGroup: "scheduling.k8s.io", resource: "podgroups", name: "g", uid }]);
});
