import { test } from "node:test";
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { PassThrough } from "node:stream";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { seededRandom } from "../../base/random.ts";
import { loopTurn } from "../../base/virtual-clock.ts";
import { headerOf } from "../../apimachinery/request.ts";
import type { ApiResponse, UserInfo } from "../../apimachinery/request.ts";
import type { Mutation, MutationResult, Store } from "../../storage/index.ts";
import { ask, openWatch } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";
import { KeptStore } from "../../testing/kept-store.ts";
import type { NodeConnector } from "../streaming/node-connector.ts";
import type { AuditEvent } from "./event.ts";
import type { AuditRule } from "./policy.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

interface Options {
  readonly isStrict?: boolean;
  readonly fails?: boolean;
  readonly wrapStore?: (store: Store, clock: Clock) => Store;
  readonly nodes?: NodeConnector;
}

async function start(rules: AuditRule[], { wrapStore, nodes, ...options }: Options = {}) {
  const events: AuditEvent[] = [];
  const closings: number[] = [];
  const sink = {
    process(given: readonly AuditEvent[]) {
      if (options.fails === true) return false;
      events.push(...given);
      return true;
    },
    close: async () => void closings.push(events.length),
  };
  const cluster = await TestCluster.start({
    ...(wrapStore !== undefined && { wrapStore }),
    ...(nodes !== undefined && { nodes }),
    audit: { policy: { rules }, isStrict: options.isStrict === true, sink },
  });
  const of = (answer: { headers: Readonly<Record<string, string | readonly string[]>> }) =>
    events.filter(({ auditID }) => auditID === headerOf(answer.headers, "audit-id"));
  return { cluster, events, closings, of };
}

const outside = (cluster: TestCluster, path: string, headers: Record<string, string> = {}, method = "GET", identity?: UserInfo) =>
  cluster.handle({
    method,
    path,
    query: "",
    headers: { "user-agent": "test", ...headers },
    body: new Uint8Array(),
    peer: { address: "192.0.2.7", isHttp2: false, ...(identity !== undefined && { identity }) },
    signal: new AbortController().signal,
  });

test("audit: a write is told when it comes and when it is answered, with what was sent and what was made", async () => {
  const { cluster, of } = await start([{ level: "RequestResponse", verbs: ["create"] }, { level: "None" }]);
  const answer = await ask(
    cluster,
    "POST",
    `${configMaps}?fieldManager=m`,
    { metadata: { name: "a" }, data: { k: "v" } },
    { "user-agent": "tester", "x-forwarded-for": "198.51.100.1, nonsense" },
  );
  const [received, complete] = of(answer);
  equal(of(answer).length, 2);
  deepEqual(Object.keys(received!), [
    "kind",
    "apiVersion",
    "level",
    "auditID",
    "stage",
    "requestURI",
    "verb",
    "user",
    "sourceIPs",
    "userAgent",
    "objectRef",
    "requestReceivedTimestamp",
    "stageTimestamp",
  ]);
  deepEqual(received!.objectRef, { resource: "configmaps", namespace: "default", apiVersion: "v1" });
  deepEqual(received!.sourceIPs, ["198.51.100.1", "127.0.0.1"]);
  match(received!.stageTimestamp, /^2026-01-01T00:00:00\.\d{6}Z$/);
  deepEqual(complete!.objectRef, { resource: "configmaps", namespace: "default", name: "a", apiVersion: "v1" });
  deepEqual(complete!.responseStatus, { metadata: {}, code: 201 });
  deepEqual(complete!.requestObject, { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" }, data: { k: "v" } });
  deepEqual(complete!.responseObject, answer.json);
  deepEqual(complete!.annotations, { "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "" });
  await cluster.close();
});

test("audit: who may not, who is nobody, who pretends", async () => {
  const { cluster, of } = await start([{ level: "Metadata" }]);
  const shown = ({ stage, user, impersonatedUser, authenticationMetadata, responseStatus, annotations }: AuditEvent) => ({
    stage,
    user: user.username,
    as: impersonatedUser?.username,
    how: authenticationMetadata?.impersonationConstraint,
    code: responseStatus?.code,
    decision: annotations?.["authorization.k8s.io/decision"],
  });
  const forbidden = await ask(cluster, "GET", "/metrics", undefined, { "impersonate-user": "jane" });
  deepEqual(of(forbidden).map(shown), [
    { stage: "RequestReceived", user: "admin", as: undefined, how: undefined, code: undefined, decision: undefined },
    { stage: "ResponseComplete", user: "admin", as: "jane", how: "impersonate:user-info", code: 403, decision: "forbid" },
  ]);
  const anonymous = await outside(cluster, "/version");
  equal(
    of(anonymous)[1]!.annotations!["authorization.k8s.io/reason"],
    'RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole "system:public-info-viewer" to Group "system:unauthenticated"',
  );
  const unknown = await outside(cluster, "/version", { authorization: "Bearer nobody" });
  equal(unknown.status, 401);
  deepEqual(
    of(unknown).map(({ stage, user, responseStatus, annotations }) => ({ stage, user, responseStatus, annotations })),
    [
      {
        stage: "ResponseStarted",
        user: {},
        responseStatus: { metadata: {}, status: "Failure", message: "Unauthorized", reason: "Unauthorized", code: 401 },
        annotations: undefined,
      },
    ],
  );
  ok(!JSON.stringify(of(unknown)).includes("nobody"));
  const pretender = await outside(cluster, "/version", { "impersonate-user": "x" });
  deepEqual(
    of(pretender).map(({ stage, responseStatus, annotations }) => [stage, responseStatus?.code, annotations]),
    [
      ["RequestReceived", undefined, undefined],
      ["ResponseComplete", 403, undefined],
    ],
  );
  await cluster.close();
});

test("audit: what lasts is told when it begins and when it ends, once", async () => {
  const { cluster, events, closings } = await start([{ level: "Metadata", verbs: ["watch"] }, { level: "None" }]);
  const stages = () => events.filter(({ verb }) => verb === "watch").map(({ stage }) => stage);
  const watch = await openWatch(cluster, `${configMaps}?watch=true`);
  await cluster.turn();
  deepEqual(stages(), ["RequestReceived", "ResponseStarted"]);
  watch.stop();
  await watch.ended;
  await cluster.turn();
  deepEqual(stages(), ["RequestReceived", "ResponseStarted", "ResponseComplete"]);
  const second = await openWatch(cluster, `${configMaps}?watch=true`);
  await cluster.turn();
  await cluster.close();
  await second.ended;
  equal(stages().filter((stage) => stage === "ResponseComplete").length, 2, "a watch that the server's end cuts short is told");
  deepEqual(closings, [events.length], "nothing comes after the end");
});

test("audit: tokens are written nowhere, managed fields where they are wanted", async () => {
  const { cluster, of, events } = await start([{ level: "RequestResponse", omitManagedFields: true }]);
  await ask(cluster, "POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "robot" } });
  const issued = await ask(cluster, "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    spec: {},
  });
  equal(issued.status, 201);
  const { token } = issued.json["status"] as { token: string };
  const reviewed = await ask(cluster, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
    kind: "TokenReview",
    apiVersion: "authentication.k8s.io/v1",
    spec: { token },
  });
  equal((reviewed.json["status"] as { authenticated?: boolean }).authenticated, true);
  equal(of(reviewed).length, 2);
  for (const part of token.split(".")) ok(!JSON.stringify(events).includes(part), "a part of the token is in the log");
  await ask(cluster, "POST", configMaps, { metadata: { name: "a" }, data: { k: "v" } });
  const list = await ask(cluster, "GET", configMaps);
  ok(list.text.includes("managedFields"));
  ok(!JSON.stringify(events).includes("managedFields"));
  await cluster.close();
});

test("audit: a pod that Pod Security notes, a version that is deprecated", async () => {
  const { cluster, of } = await start([{ level: "Metadata" }]);
  await ask(cluster, "POST", "/api/v1/namespaces", {
    metadata: { name: "watched", labels: { "pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/audit": "restricted" } },
  });
  await ask(cluster, "POST", "/api/v1/namespaces/watched/serviceaccounts", { metadata: { name: "default" } });
  const pod = await ask(cluster, "POST", "/api/v1/namespaces/watched/pods", { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } });
  const annotations = of(pod)[1]!.annotations!;
  equal(annotations["pod-security.kubernetes.io/enforce-policy"], "baseline:latest");
  match(annotations["pod-security.kubernetes.io/audit-violations"]!, /^would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false /);
  const endpoints = await ask(cluster, "GET", "/api/v1/namespaces/default/endpoints");
  equal(of(endpoints)[1]!.annotations!["k8s.io/deprecated"], "true");
  await cluster.close();
});

test("audit: in strict mode a request that cannot be recorded is refused", async () => {
  for (const [isStrict, status] of [
    [true, 500],
    [false, 200],
  ] as const) {
    const { cluster } = await start([{ level: "Metadata", users: ["jane"] }], { isStrict, fails: true });
    const answer = await ask({ client: cluster.clientFor({ username: "jane", groups: ["system:masters"] }) }, "GET", configMaps);
    equal(answer.status, status);
    await cluster.close();
  }
});

/** Writes take their time. */
class SlowStore extends KeptStore {
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    super(store, { clock, random: seededRandom(1) });
    this.#clock = clock;
  }

  override async commit(mutation: Mutation): Promise<MutationResult> {
    const tookMs = /configmaps\/default\/(\d+)/.exec(mutation.key)?.[1];
    if (tookMs !== undefined) await sleep(this.#clock, Number(tookMs));
    return super.commit(mutation);
  }
}

test("audit: of a slow request it is told where the time went", async () => {
  const { cluster, of } = await start([{ level: "Metadata", verbs: ["create"] }, { level: "None" }], {
    wrapStore: (store, clock) => new SlowStore(store, clock),
  });
  const written = async (tookMs: number, headers: Record<string, string> = {}) => {
    const answer = ask(cluster, "POST", configMaps, { metadata: { name: String(tookMs) } }, headers);
    await cluster.clock.advance(tookMs, loopTurn);
    const [received, complete] = of(await answer);
    equal(received!.annotations, undefined);
    return Object.entries(complete!.annotations!).filter(([key]) => key.startsWith("apiserver.latency.k8s.io/"));
  };
  deepEqual(await written(500), []);
  deepEqual(await written(1501), [
    ["apiserver.latency.k8s.io/authentication", "0s"],
    ["apiserver.latency.k8s.io/authorization", "0s"],
    ["apiserver.latency.k8s.io/etcd", "1.501s"],
    ["apiserver.latency.k8s.io/serialize-response-object", "0s"],
    ["apiserver.latency.k8s.io/total", "1.501s"],
  ]);
  const asTable = await written(700, { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" });
  deepEqual(
    asTable.map(([key, value]) => `${key.split("/")[1]} ${value}`),
    [
      "authentication 0s",
      "authorization 0s",
      "decode-response-object 0s",
      "etcd 700ms",
      "serialize-response-object 0s",
      "total 700ms",
      "transform-response-object 0s",
    ],
  );
  await cluster.close();
});

test("audit: of a long list it is told how long the client took for it", async () => {
  const { cluster, of } = await start([{ level: "Metadata", verbs: ["list"], users: ["slow"] }, { level: "None" }]);
  for (const name of ["a", "b"]) await ask(cluster, "POST", configMaps, { metadata: { name }, data: { k: "v".repeat(300_000) } });
  const answer = await outside(cluster, configMaps, {}, "GET", { username: "slow", groups: ["system:masters"] });
  if (answer.body.kind !== "stream") throw new Error("the list is in pieces");
  const chunks = answer.body.chunks[Symbol.asyncIterator]();
  for (let isDone = false; !isDone;) {
    const next = chunks.next();
    await cluster.clock.advance(400, loopTurn);
    isDone = (await next).done === true;
  }
  const { annotations } = of(answer).at(-1)!;
  equal(annotations!["apiserver.latency.k8s.io/response-write"], "1.2s", "three pieces");
  equal(annotations!["apiserver.latency.k8s.io/total"], "1.2s");
  equal(annotations!["apiserver.latency.k8s.io/serialize-response-object"], "0s");
  await cluster.close();
});

test("audit: connections into pods begin with the upgrade and end with the connection, over SPDY as over WebSocket", async () => {
  const ends: (() => void)[] = [];
  const send = async (): Promise<ApiResponse> => ({
    status: 101,
    headers: {},
    body: { kind: "upgrade", accept: () => new Promise((resolve) => void ends.push(resolve)) },
  });
  const { cluster, events } = await start(
    [{ level: "Metadata", resources: [{ group: "", resources: ["pods/exec", "pods/attach", "pods/portforward"] }] }, { level: "None" }],
    {
      nodes: { send, forward: send },
    },
  );
  await ask(cluster, "POST", "/api/v1/nodes", { metadata: { name: "n" } });
  await ask(
    cluster,
    "PATCH",
    "/api/v1/nodes/n/status",
    { status: { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] } },
    { "content-type": "application/merge-patch+json" },
  );
  await ask(cluster, "POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
  const made = await ask(cluster, "POST", "/api/v1/namespaces/default/pods", {
    metadata: { name: "p" },
    spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
  });
  equal(made.status, 201);
  const told = () => events.splice(0).map(({ verb, stage, responseStatus, objectRef }) => [verb, objectRef?.subresource, stage, responseStatus?.code]);
  for (const [subresource, query] of [
    ["exec", "command=sh&stdout=true"],
    ["attach", "stdout=true"],
    ["portforward", "ports=80"],
  ] as const) {
    for (const [method, verb, upgrade] of [
      ["POST", "create", "SPDY/3.1"],
      ["GET", "get", "websocket"],
    ] as const) {
      const { body } = await cluster.handle({
        method,
        path: `/api/v1/namespaces/default/pods/p/${subresource}`,
        query,
        headers: { "user-agent": "test", connection: "Upgrade", upgrade },
        body: new Uint8Array(),
        peer: { address: "192.0.2.7", isHttp2: false, identity: { username: "admin", groups: ["system:masters", "system:authenticated"] } },
        signal: new AbortController().signal,
      });
      ok(body.kind === "upgrade", body.kind === "bytes" ? Buffer.from(body.bytes).toString() : body.kind);
      const accepted = body.accept({ stream: new PassThrough(), head: Buffer.alloc(0) });
      deepEqual(told(), [
        [verb, subresource, "RequestReceived", undefined],
        [verb, subresource, "ResponseStarted", 101],
      ]);
      ends.shift()!();
      await accepted;
      deepEqual(told(), [[verb, subresource, "ResponseComplete", 101]]);
    }
  }
  await cluster.close();
});
