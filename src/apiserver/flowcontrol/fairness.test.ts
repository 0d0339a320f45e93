import { test } from "node:test";
import { deepEqual, equal, match } from "node:assert/strict";
import { loopTurn } from "../../base/virtual-clock.ts";
import type { Mutation, MutationResult } from "../../storage/index.ts";
import { ask, openWatch } from "../../testing/ask.ts";
import type { Answer } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";
import { KeptStore } from "../../testing/kept-store.ts";
import { seededRandom } from "../../base/random.ts";

const flowcontrol = "/apis/flowcontrol.apiserver.k8s.io/v1";
const configMaps = "/api/v1/namespaces/default/configmaps";
const small = { "max-requests-inflight": "4", "max-mutating-requests-inflight": "2" };

/** Writes of config maps called `held…` take until they are let go. */
class HoldingStore extends KeptStore {
  readonly #held: (() => void)[] = [];

  override async commit(mutation: Mutation): Promise<MutationResult> {
    if (mutation.key.includes("/configmaps/default/held")) await new Promise<void>((resolve) => this.#held.push(resolve));
    return super.commit(mutation);
  }

  letGo(): void {
    this.#held.shift()!();
  }
}

async function start(flags: Readonly<Record<string, string>> = small) {
  const stores: HoldingStore[] = [];
  const cluster = await TestCluster.start({
    flags,
    wrapStore: (store, clock) => {
      const holding = new HoldingStore(store, { clock, random: seededRandom(1) });
      stores.push(holding);
      return holding;
    },
  });
  for (const [name, limitResponse] of Object.entries({
    "pf-reject": { type: "Reject" },
    "pf-queue": { type: "Queue", queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } },
  })) {
    const kind = (kindName: string, spec: object) => ({ apiVersion: "flowcontrol.apiserver.k8s.io/v1", kind: kindName, metadata: { name }, spec });
    await ask(
      cluster,
      "POST",
      `${flowcontrol}/prioritylevelconfigurations`,
      kind("PriorityLevelConfiguration", {
        type: "Limited",
        limited: { nominalConcurrencyShares: 1, limitResponse, lendablePercent: 0, borrowingLimitPercent: 0 },
      }),
    );
    const everything = {
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    };
    const made = await ask(
      cluster,
      "POST",
      `${flowcontrol}/flowschemas`,
      kind("FlowSchema", {
        priorityLevelConfiguration: { name },
        matchingPrecedence: 100,
        distinguisherMethod: { type: "ByUser" },
        rules: [{ subjects: [{ kind: "User", user: { name } }], ...everything }],
      }),
    );
    equal(made.status, 201);
    await ask(cluster, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
      metadata: { name },
      subjects: [{ kind: "User", name, apiGroup: "rbac.authorization.k8s.io" }],
      roleRef: { kind: "ClusterRole", name: "cluster-admin", apiGroup: "rbac.authorization.k8s.io" },
    });
  }
  const as = (user: string, method: string, target: string, body?: unknown) =>
    ask({ client: cluster.clientFor({ username: user, groups: ["system:authenticated"] }) }, method, target, body);
  return {
    cluster,
    store: stores[0]!,
    as,
    hold: (user: string, name: string, query = "") => as(user, "POST", `${configMaps}${query}`, { metadata: { name: `held-${name}` } }),
  };
}

const shown = ({ status, headers, text }: Answer) => [status, headers["content-type"], headers["retry-after"], text];
const refused = (retryAfter: string) => [429, "text/plain; charset=utf-8", retryAfter, "Too many requests, please try again later.\n"];
const dump = async (cluster: TestCluster, what: string) =>
  (await ask(cluster, "GET", `/debug/api_priority_and_fairness/${what}`)).text.split("\n").filter((line) => /^(pf-|Priority)/.test(line));

test("fairness: a level that refuses is full for reads, writes and watches, and for nobody else", async () => {
  const { cluster, store, as, hold } = await start();
  const first = hold("pf-reject", "a");
  await loopTurn();
  for (const [method, target] of [
    ["POST", configMaps],
    ["GET", configMaps],
    ["GET", `${configMaps}?watch=true`],
  ] as const) {
    const answer = await as("pf-reject", method, target, method === "POST" ? { metadata: { name: "b" } } : undefined);
    deepEqual(shown(answer), refused("1"));
    match(String(answer.headers["x-kubernetes-pf-flowschema-uid"]), /^[0-9a-f-]{36}$/);
    match(String(answer.headers["x-kubernetes-pf-prioritylevel-uid"]), /^[0-9a-f-]{36}$/);
  }
  equal((await as("pf-reject", "GET", "/healthz")).status, 200, "probes are exempt");
  equal((await ask(cluster, "GET", configMaps)).status, 200, "so are administrators");
  equal((await as("pf-queue", "GET", configMaps)).status, 200);
  await cluster.clock.advance(1100, loopTurn);
  deepEqual(shown(await as("pf-reject", "GET", configMaps)), refused("2"), "three in a second: come back later");
  store.letGo();
  equal((await first).status, 201);
  equal((await as("pf-reject", "GET", configMaps)).status, 200);
  await cluster.close();
});

test("fairness: a level with queues makes wait, for a quarter of the request's time", async () => {
  const { cluster, store, as, hold } = await start();
  const first = hold("pf-queue", "a");
  await loopTurn();
  const second = hold("pf-queue", "b");
  await loopTurn();
  deepEqual(shown(await hold("pf-queue", "c")), refused("1"));
  deepEqual(await dump(cluster, "dump_priority_levels"), [
    "PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests",
    "pf-queue,          1,            false,  false,       1,               1,                 1,                  1,                0,                0",
    "pf-reject,         0,            true,   false,       0,               0,                 0,                  0,                0,                0",
  ]);
  deepEqual((await dump(cluster, "dump_queues")).filter((line) => !line.startsWith("pf-reject")).slice(0, 2), [
    "PriorityLevelName, Index,  PendingRequests, ExecutingRequests, SeatsInUse, NextDispatchR, InitialSeatsSum, MaxSeatsSum, TotalWorkSum",
    "pf-queue,          0,      1,               1,                 1,          0.00300000ss,  1,               1,           0.00300000ss",
  ]);
  const rows = await dump(cluster, "dump_requests?includeRequestDetails=1");
  equal(
    rows[0],
    "PriorityLevelName, FlowSchemaName, QueueIndex, RequestIndexInQueue, FlowDistingsher, ArriveTime,                     InitialSeats, FinalSeats, AdditionalLatency, StartTime,                      UserName, Verb,   APIPath,                                        Namespace, Name,   APIVersion, Resource,   SubResource",
  );
  match(
    rows[1]!,
    /^pf-queue, {10}pf-queue, {7}0, {10}0, {19}, {16}2026-01-01T00:00:00\.000000000Z, 1, {12}0, {10}0s, {16}0001-01-01T00:00:00Z, {11}pf-queue, create, \/api\/v1\/namespaces\/default\/configmaps, {9} default, {3},/,
  );
  match(rows[2]!, /^pf-queue, {10}pf-queue, {7}0, {10}-1, /);
  const metrics = (await ask(cluster, "GET", "/metrics")).text;
  for (const line of [
    'apiserver_flowcontrol_current_executing_requests{flow_schema="pf-queue",priority_level="pf-queue"} 1',
    'apiserver_flowcontrol_current_inqueue_requests{flow_schema="pf-queue",priority_level="pf-queue"} 1',
    'apiserver_flowcontrol_dispatched_requests_total{flow_schema="pf-queue",priority_level="pf-queue"} 1',
    'apiserver_flowcontrol_rejected_requests_total{flow_schema="pf-queue",priority_level="pf-queue",reason="queue-full"} 1',
    'apiserver_flowcontrol_nominal_limit_seats{priority_level="workload-low"} 3',
    'apiserver_flowcontrol_upper_limit_seats{priority_level="workload-low"} 9',
    'apiserver_flowcontrol_lower_limit_seats{priority_level="workload-low"} 0',
  ])
    equal(metrics.split("\n").includes(line), true, line);
  store.letGo();
  equal((await first).status, 201);
  await loopTurn();
  const third = as("pf-queue", "GET", `${configMaps}?timeout=4s`);
  await cluster.clock.advance(999, loopTurn);
  equal(
    (await dump(cluster, "dump_priority_levels"))[1],
    "pf-queue,          1,            false,  false,       1,               1,                 2,                  1,                0,                0",
  );
  await cluster.clock.advance(1, loopTurn);
  deepEqual(shown(await third), refused("1"));
  store.letGo();
  equal((await second).status, 201);
  equal(
    (await dump(cluster, "dump_priority_levels"))[1],
    "pf-queue,          0,            true,   false,       0,               0,                 2,                  1,                1,                0",
  );
  await cluster.close();
});

test("fairness: who leaves the queue makes room", async () => {
  const { cluster, store, as, hold } = await start();
  const first = hold("pf-queue", "a");
  await loopTurn();
  const leaving = new AbortController();
  const left = cluster
    .clientFor({ username: "pf-queue", groups: ["system:authenticated"] })
    .send({ method: "GET", path: configMaps, query: "", headers: {}, body: new Uint8Array() }, { signal: leaving.signal });
  const gone = left.then(
    (answer) => answer.status,
    () => "gone",
  );
  await loopTurn();
  leaving.abort(new DOMException("left", "AbortError"));
  await gone;
  await loopTurn();
  equal(
    (await dump(cluster, "dump_priority_levels"))[1],
    "pf-queue,          1,            false,  false,       0,               1,                 1,                  0,                0,                1",
  );
  const next = as("pf-queue", "GET", configMaps);
  await loopTurn();
  store.letGo();
  deepEqual([(await first).status, (await next).status], [201, 200]);
  await cluster.close();
});

test("fairness: a watch holds a seat until it has begun", async () => {
  const { cluster, as } = await start();
  const watch = await openWatch({ client: cluster.clientFor({ username: "pf-reject", groups: ["system:authenticated"] }) }, `${configMaps}?watch=true`);
  await cluster.turn();
  equal((await as("pf-reject", "GET", configMaps)).status, 200);
  watch.stop();
  await watch.ended;
  await cluster.close();
});

test("fairness: a level that is deleted ends with its requests, and its schema dangles and leads nowhere", async () => {
  const { cluster, store, as, hold } = await start();
  const first = hold("pf-queue", "a");
  await loopTurn();
  equal((await ask(cluster, "DELETE", `${flowcontrol}/prioritylevelconfigurations/pf-queue`)).status, 200);
  match((await dump(cluster, "dump_priority_levels"))[1]!, /^pf-queue, +1, +false, +true, +0, +1,/);
  const elsewhere = await as("pf-queue", "GET", configMaps);
  equal(elsewhere.status, 200);
  const globalDefault = await ask(cluster, "GET", `${flowcontrol}/flowschemas/global-default`);
  equal(elsewhere.headers["x-kubernetes-pf-flowschema-uid"], (globalDefault.json["metadata"] as { uid?: string }).uid);
  store.letGo();
  equal((await first).status, 201);
  await ask(cluster, "DELETE", `${flowcontrol}/flowschemas/pf-reject`);
  equal(
    (await dump(cluster, "dump_priority_levels")).some((line) => line.startsWith("pf-queue")),
    false,
  );
  await cluster.close();
});

test("fairness: without it reads and writes are counted apart, and administrators and watches are not", async () => {
  const { cluster, store, as, hold } = await start({
    "enable-priority-and-fairness": "false",
    "max-requests-inflight": "1",
    "max-mutating-requests-inflight": "1",
  });
  const first = hold("pf-reject", "a");
  await loopTurn();
  const second = await hold("pf-reject", "b");
  deepEqual(shown(second), refused("1"));
  equal(second.headers["x-kubernetes-pf-flowschema-uid"], undefined);
  equal((await as("pf-reject", "GET", configMaps)).status, 200);
  equal((await ask(cluster, "DELETE", `${configMaps}/none`)).status, 404);
  equal((await ask(cluster, "GET", "/debug/api_priority_and_fairness/dump_priority_levels")).status, 404);
  equal(
    (await ask(cluster, "GET", "/metrics")).text.includes(
      'apiserver_request_terminations_total{code="429",component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1',
    ),
    true,
  );
  store.letGo();
  equal((await first).status, 201);
  await cluster.close();
});

test("fairness: what many watch costs more to write", async () => {
  const { cluster, as } = await start();
  const watches = await Promise.all(Array.from({ length: 30 }, () => openWatch(cluster, `${configMaps}?watch=true`)));
  await cluster.turn();
  equal((await as("pf-reject", "POST", configMaps, { metadata: { name: "a" } })).status, 201);
  // The level has one seat: three seats for 5 ms become one for 15.
  equal((await as("pf-reject", "GET", configMaps)).status, 429);
  await cluster.advance(15);
  equal((await as("pf-reject", "GET", configMaps)).status, 200);
  for (const watch of watches) watch.stop();
  await Promise.all(watches.map((watch) => watch.ended));
  await cluster.close();
});

test("fairness: each nanosecond counts in the histograms of what a level uses", async () => {
  const { cluster, store, hold } = await start();
  const series = async () => {
    const lines = (await ask(cluster, "GET", "/metrics")).text.split("\n").map((line): [string, number] => {
      const end = line.lastIndexOf(" ");
      return [line.slice(0, end).replace("apiserver_flowcontrol_", ""), Number(line.slice(end + 1))];
    });
    return new Map(lines);
  };
  await cluster.advance(1000);
  const before = await series();
  const first = hold("pf-queue", "a");
  await loopTurn();
  const second = hold("pf-queue", "b");
  await cluster.clock.advance(2000, loopTurn);
  const after = await series();
  const grown = (name: string) => after.get(name)! - before.get(name)!;
  const nanoseconds = 2_000_000_000;
  for (const [name, times] of Object.entries({
    // One seat; one request has it, the other wants it and fills the queue.
    'demand_seats_sum{priority_level="pf-queue"}': 2,
    'demand_seats_bucket{priority_level="pf-queue",le="1.7"}': 0,
    'demand_seats_bucket{priority_level="pf-queue",le="2"}': 1,
    'demand_seats_count{priority_level="pf-queue"}': 1,
    'priority_level_seat_utilization_sum{phase="executing",priority_level="pf-queue"}': 1,
    'priority_level_request_utilization_sum{phase="executing",priority_level="pf-queue"}': 1,
    'priority_level_request_utilization_sum{phase="waiting",priority_level="pf-queue"}': 1,
    'priority_level_request_utilization_sum{phase="waiting",priority_level="pf-reject"}': 0,
    'priority_level_request_utilization_count{phase="waiting",priority_level="pf-reject"}': 1,
    'read_vs_write_current_requests_sum{phase="executing",request_kind="mutating"}': 1,
    'read_vs_write_current_requests_sum{phase="waiting",request_kind="mutating"}': 1,
    'read_vs_write_current_requests_sum{phase="waiting",request_kind="readOnly"}': 0,
  }))
    equal(grown(name), times * nanoseconds, name);
  equal(after.get('request_dispatch_no_accommodation_total{flow_schema="pf-queue",priority_level="pf-queue"}'), 1);
  // What executes was guessed to take 3 ms of the queue's virtual time.
  equal(after.get('dispatch_r{priority_level="pf-queue"}'), 0);
  equal(after.get('latest_s{priority_level="pf-queue"}'), 0);
  equal(after.get('next_s_bounds{bound="min",priority_level="pf-queue"}'), 0.003);
  equal(after.get('next_discounted_s_bounds{bound="max",priority_level="pf-queue"}'), 0);
  store.letGo();
  await first;
  await loopTurn();
  store.letGo();
  await second;
  const count = 'request_execution_seconds_count{flow_schema="exempt",priority_level="exempt",type="watch"}';
  const watch = await openWatch(cluster, `${configMaps}?watch=true`);
  await cluster.turn();
  equal((await series()).get(count), (after.get(count) ?? 0) + 1);
  watch.stop();
  await watch.ended;
  await cluster.close();
});
