import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { StatusError } from "../apimachinery/status.ts";
import { bytesResponse } from "../apimachinery/request.ts";
import { resources } from "../client/index.ts";
import { TestCluster } from "../testing/index.ts";
import { createScheduler } from "./scheduler.ts";
import { nodeOf, podOf } from "./test-support/cluster.ts";
import type { Transport } from "../apimachinery/request.ts";
import type { Pod } from "../api/core-v1/types.ts";
import type { ClusterComponent } from "../testing/index.ts";
import type { Scheduler, SchedulerOptions } from "./scheduler.ts";

const user = { username: "system:kube-scheduler", groups: ["system:authenticated"] };
const noExecute = { automountServiceAccountToken: false };

const refused = (code: number, reason: "BadRequest" | "Conflict") => {
  const { status } = new StatusError({ message: "no luck", code, reason });
  return bytesResponse(code, "application/json", JSON.stringify(status));
};

/** A cluster with a scheduler and nothing else. `wrap` stands between the scheduler and the API. */
async function start(wrap: (transport: Transport) => Transport = (transport) => transport, options: Partial<SchedulerOptions> = {}): Promise<Stage> {
  const schedulers: Scheduler[] = [];
  const component: ClusterComponent = (context) => {
    const scheduler = createScheduler({ ...context, ...options, transport: wrap(context.transportFor(user)) });
    schedulers.push(scheduler);
    return scheduler.run(context.signal);
  };
  const cluster = await TestCluster.start({ components: { scheduler: component } });
  await cluster.client
    .create(resources.serviceAccounts, { metadata: { name: "default", namespace: "default" } })
    .catch((error: unknown) => ok(error instanceof StatusError));
  return { cluster, scheduler: () => schedulers[0]! };
}

interface Stage {
  readonly cluster: TestCluster;
  readonly scheduler: () => Scheduler;
}

async function addNode({ cluster }: Stage, name: string, cpu = "4"): Promise<void> {
  const status = { allocatable: { cpu, memory: "8Gi", pods: "110" }, capacity: { cpu, memory: "8Gi", pods: "110" } };
  await cluster.client.create(resources.nodes, nodeOf(name, status));
  await cluster.client.patch(resources.nodes, "", name, { type: "merge", body: { spec: { taints: null } } });
}

async function addPod({ cluster }: Stage, pod: Pod): Promise<void> {
  const { uid: _uid, ...metadata } = pod.metadata;
  await cluster.client.create(resources.pods, { ...pod, metadata, spec: { ...pod.spec, ...noExecute } });
}

const nodeNameOf = async ({ cluster }: Stage, name: string) => (await cluster.client.get(resources.pods, "default", name)).spec?.nodeName;
const conditionOf = async ({ cluster }: Stage, name: string) =>
  (await cluster.client.get(resources.pods, "default", name)).status?.conditions?.find(({ type }) => type === "PodScheduled");

test("scheduler: a pod waits, says why, and is bound when room comes", async () => {
  const stage = await start();
  await using cluster = stage.cluster;
  await addNode(stage, "small", "1");
  await addPod(stage, podOf("p", { requests: { cpu: "2" } }));
  await cluster.settled();
  const message = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
  deepEqual([(await conditionOf(stage, "p"))?.reason, (await conditionOf(stage, "p"))?.message], ["Unschedulable", message]);
  equal(stage.scheduler().decisionAbout("default", "p")?.kind, "unschedulable");
  await addNode(stage, "large");
  await cluster.settled();
  equal(await nodeNameOf(stage, "p"), "large");
  const events = (await cluster.client.list(resources.seriesEvents, "default")).items.map(({ reason, action, note }) => [reason, action, note]);
  deepEqual(events.toSorted().at(-1), ["Scheduled", "Binding", "Successfully assigned default/p to large"]);
});

test("scheduler: a binding that fails is undone, and tried again after a second", async () => {
  let failures = 1;
  const stage = await start((transport) => async (request) => {
    if (!request.path.endsWith("/binding") || failures-- <= 0) return transport(request);
    return refused(400, "BadRequest");
  });
  await using cluster = stage.cluster;
  await addNode(stage, "a");
  await addPod(stage, podOf("p", { requests: { cpu: "3" } }));
  await cluster.turn();
  deepEqual([(await conditionOf(stage, "p"))?.reason, (await conditionOf(stage, "p"))?.message], ["SchedulerError", "no luck"]);
  // Its room is free meanwhile.
  await addPod(stage, podOf("q", { requests: { cpu: "1" } }));
  await cluster.turn();
  equal(await nodeNameOf(stage, "q"), "a");
  await cluster.advance(1000);
  equal(await nodeNameOf(stage, "p"), "a");
});

test("scheduler: a pod pushes out less important ones and takes their place", async () => {
  const stage = await start();
  await using cluster = stage.cluster;
  for (const [name, value] of [
    ["low", 10],
    ["high", 1000],
  ] as const)
    await cluster.client.create(resources.priorityClasses, { metadata: { name }, value });
  await addNode(stage, "a");
  for (const name of ["x", "y"]) await addPod(stage, podOf(name, { requests: { cpu: "2" }, priorityClassName: "low", terminationGracePeriodSeconds: 0 }));
  await cluster.settled();
  await addPod(stage, podOf("p", { requests: { cpu: "3" }, priorityClassName: "high" }));
  await cluster.settled();
  const pods = (await cluster.client.list(resources.pods, "default")).items;
  deepEqual(
    pods.map(({ metadata, spec }) => [metadata.name, spec?.nodeName]),
    [["p", "a"]],
  );
});

test("scheduler: many pods at once all find their room", async () => {
  const stage = await start();
  await using cluster = stage.cluster;
  for (let index = 0; index < 10; index++) await addNode(stage, `n${index}`);
  for (let index = 0; index < 41; index++) await addPod(stage, podOf(`p${index}`, { requests: { cpu: "1" } }));
  await cluster.settled();
  const nodes = Map.groupBy((await cluster.client.list(resources.pods, "default")).items, ({ spec }) => spec?.nodeName ?? "");
  deepEqual(Array.from(nodes.values(), ({ length }) => length).sort(), [1, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]);
});

async function addDevices({ cluster }: Stage): Promise<void> {
  await cluster.client.create(resources.deviceClasses, { metadata: { name: "gpu" }, spec: { extendedResourceName: "example.com/gpu" } });
  const spec = { driver: "d.example.com", pool: { name: "a", generation: 1, resourceSliceCount: 1 }, nodeName: "a", devices: [{ name: "x" }] };
  await cluster.client.create(resources.resourceSlices, { metadata: { name: "s" }, spec });
}

test("scheduler: a claim that others write too is written again from its newest state", async () => {
  let conflicts = 2;
  const stage = await start((transport) => async (request) => {
    const isStatus = request.method === "PUT" && request.path.endsWith("/resourceclaims/c/status");
    return isStatus && conflicts-- > 0 ? refused(409, "Conflict") : transport(request);
  });
  await using cluster = stage.cluster;
  await addNode(stage, "a");
  await addDevices(stage);
  const spec = { devices: { requests: [{ name: "r", exactly: { deviceClassName: "gpu" } }] } };
  await cluster.client.create(resources.resourceClaims, { metadata: { name: "c", namespace: "default" }, spec });
  await addPod(stage, podOf("p", { resourceClaims: [{ name: "dev", resourceClaimName: "c" }] }));
  await cluster.turn();
  equal(await nodeNameOf(stage, "p"), "a");
  equal((await cluster.client.get(resources.resourceClaims, "default", "c")).status?.allocation?.devices?.results?.[0]?.device, "x");
});

test("scheduler: the claim made for extended resources goes when the pod is not bound, and comes again with it", async () => {
  let failures = 1;
  const stage = await start(
    (transport) => async (request) => (request.path.endsWith("/binding") && failures-- > 0 ? refused(400, "BadRequest") : transport(request)),
  );
  await using cluster = stage.cluster;
  await addNode(stage, "a");
  await addDevices(stage);
  const amounts = { "example.com/gpu": "1" };
  await addPod(stage, podOf("p", { containers: [{ name: "c", image: "img", resources: { requests: amounts, limits: amounts } }] }));
  const claims = async () =>
    (await cluster.client.list(resources.resourceClaims, "default")).items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  await cluster.turn();
  deepEqual([await nodeNameOf(stage, "p"), (await claims()).length], [undefined, 0]);
  await cluster.settled();
  const [claim, ...others] = await claims();
  deepEqual([await nodeNameOf(stage, "p"), others.length, claim?.status?.reservedFor?.[0]?.name], ["a", 0, "p"]);
  equal((await cluster.client.get(resources.pods, "default", "p")).status?.extendedResourceClaimStatus?.resourceClaimName, claim?.metadata.name);
});

test("scheduler: an extender that binds does so in place of the scheduler, and one that refuses is asked again when something happens", async () => {
  const bound: object[] = [];
  let isWilling = false;
  const config = { extenders: [{ urlPrefix: "http://x", filterVerb: "filter", bindVerb: "bind", nodeCacheCapable: true }] };
  const postToExtender: SchedulerOptions["postToExtender"] = ({ url, body }) => {
    const message = JSON.parse(Buffer.from(body).toString()) as object;
    if (url.endsWith("/bind")) bound.push(message);
    const answer = url.endsWith("/bind") ? {} : { NodeNames: isWilling ? ["a"] : [], FailedNodes: { a: "not today" } };
    return Promise.resolve({ status: 200, body: Buffer.from(JSON.stringify(answer)) });
  };
  const stage = await start(undefined, { config, postToExtender });
  await using cluster = stage.cluster;
  await addNode(stage, "a");
  await addPod(stage, podOf("p"));
  await cluster.turn();
  ok((await conditionOf(stage, "p"))?.message?.startsWith("0/1 nodes are available: 1 not today."));
  isWilling = true;
  await cluster.client.patch(resources.nodes, "", "a", { type: "merge", body: { metadata: { labels: { new: "yes" } } } });
  await cluster.advance(1000);
  const { uid } = (await cluster.client.get(resources.pods, "default", "p")).metadata;
  deepEqual(bound, [{ PodName: "p", PodNamespace: "default", PodUID: uid, Node: "a" }]);
});

test("scheduler: its server tells of health, configuration, metrics and decisions", async () => {
  const stage = await start();
  await using cluster = stage.cluster;
  const get = async (target: string) => {
    const [path = "", query = ""] = target.split("?");
    const peer = { address: "127.0.0.1", isHttp2: false };
    const response = await stage
      .scheduler()
      .serve({ method: "GET", path, query, headers: {}, peer, body: new Uint8Array(), signal: new AbortController().signal });
    return { status: response.status, text: response.body.kind === "bytes" ? Buffer.from(response.body.bytes).toString() : "" };
  };
  const getJson = async (target: string) => JSON.parse((await get(target)).text) as Record<string, unknown>;
  for (const name of ["a", "b"]) await addNode(stage, name, name === "a" ? "4" : "1");
  await addNode(stage, "c", "3");
  await addPod(stage, podOf("p", { requests: { cpu: "2" } }));
  await addPod(stage, podOf("q", { requests: { cpu: "5" }, nodeSelector: { no: "where" } }));
  await cluster.turn();
  deepEqual(await get("/readyz?verbose"), { status: 200, text: "[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n" });
  equal((await get("/healthz")).text, "ok");
  equal((await get("/nonsense")).status, 404);
  ok("kubescheduler.config.k8s.io" in (await getJson("/configz")));
  const { text } = await get("/metrics");
  for (const line of [
    'scheduler_schedule_attempts_total{result="scheduled",profile="default-scheduler"} 1',
    'scheduler_schedule_attempts_total{result="unschedulable",profile="default-scheduler"} 1',
    'scheduler_pending_pods{queue="unschedulable"} 1',
    'scheduler_unschedulable_pods{plugin="NodeAffinity",profile="default-scheduler"} 1',
    'scheduler_cache_size{type="nodes"} 3',
    "scheduler_pod_scheduling_attempts_count 1",
  ])
    ok(text.includes(`${line}\n`), `${line} in\n${text}`);
  const { decisions } = (await getJson("/debug/decisions")) as { decisions: { pod: string; result: string }[] };
  deepEqual(
    decisions.map(({ pod, result }) => [pod, result]),
    [
      ["default/q", "unschedulable"],
      ["default/p", "assigned"],
    ],
  );
  const view = (await getJson("/debug/decisions/default/p")) as { node: string; refusals: object[]; scores: { node: string; plugins: object }[] };
  deepEqual([view.node, view.refusals], ["a", [{ node: "b", plugin: "NodeResourcesFit", code: "unresolvable", reasons: ["Insufficient cpu"] }]]);
  deepEqual(
    view.scores.map(({ node }) => node),
    ["a", "c"],
  );
  ok("NodeResourcesFit" in view.scores[0]!.plugins);
  const { nodes } = (await getJson("/debug/decisions/default/q?all=true")) as { nodes: { refusals: { plugin: string }[] }[] };
  deepEqual(
    nodes.map(({ refusals }) => refusals.map(({ plugin }) => plugin)),
    Array(3).fill(["NodeAffinity", "NodeResourcesFit"]),
  );
  equal((await get("/debug/decisions/default/nobody?all=true")).status, 404);
});
