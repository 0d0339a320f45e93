/** Classes of past mistakes in API servers: one test for each. docs/security.md tells which guard each one watches; `npm run test:teeth` removes the guards. */
import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { createLog } from "../../src/base/log.ts";
import { TransportError } from "../../src/client/index.ts";
import type { ApiRequest, ApiResponse, Transport } from "../../src/apimachinery/request.ts";
import { bytesResponse } from "../../src/apimachinery/request.ts";
import type { ForwardTarget, NodeConnector } from "../../src/apiserver/streaming/node-connector.ts";
import { ask } from "../../src/testing/ask.ts";
import { TestCluster } from "../../src/testing/cluster.ts";
import { startCluster } from "../../src/testing/start-cluster/start-cluster.ts";
import { as, configMaps, core, merge, message, pod } from "./asking.ts";

/** Hears what the server would send to nodes and pods. */
class HearingNodes implements NodeConnector {
  readonly heard: { readonly target: ForwardTarget | undefined; readonly request: Omit<ApiRequest, "peer"> }[] = [];
  answer: ApiResponse = bytesResponse(200, "text/plain", "");

  send(_target: object, request: Omit<ApiRequest, "peer">): Promise<ApiResponse> {
    this.heard.push({ target: undefined, request });
    return Promise.resolve(this.answer);
  }

  forward(target: ForwardTarget, request: Omit<ApiRequest, "peer">): Promise<ApiResponse> {
    this.heard.push({ target, request });
    return Promise.resolve(this.answer);
  }
}

async function withPodAt(podIP: string) {
  const nodes = new HearingNodes();
  const cluster = await TestCluster.start({ nodes });
  await ask(cluster, "POST", `${core}/serviceaccounts`, { metadata: { name: "default" } });
  equal((await ask(cluster, "POST", `${core}/pods`, pod("p"))).status, 201);
  equal((await ask(cluster, "PATCH", `${core}/pods/p/status`, { status: { podIP, podIPs: [{ ip: podIP }] } }, merge)).status, 200);
  return { cluster, nodes };
}

test("security: a proxy reaches neither the server's own machine nor its link", async () => {
  for (const address of ["127.0.0.1", "169.254.169.254", "::1", "fe80::1", "::ffff:127.0.0.1", "224.0.0.1"]) {
    const { cluster, nodes } = await withPodAt(address).catch(() => ({ cluster: undefined, nodes: new HearingNodes() }));
    // An address that a status may not even hold is refused earlier.
    if (cluster === undefined) continue;
    const answer = await ask(cluster, "GET", `${core}/pods/p/proxy/`);
    deepEqual([answer.status, message(answer), nodes.heard.length], [400, "address not allowed", 0], address);
    await cluster.close();
  }
});

test("security: credentials and identity headers stay with the server", async () => {
  const { cluster, nodes } = await withPodAt("10.1.2.3");
  await ask(cluster, "GET", `${core}/pods/p/proxy/x`, undefined, {
    authorization: "Bearer secret",
    cookie: "secret",
    "x-remote-user": "admin",
    "x-remote-group": "system:masters",
    "x-kept": "yes",
  });
  const { headers } = nodes.heard[0]!.request;
  deepEqual(
    Object.keys(headers).filter((name) => ["authorization", "cookie"].includes(name) || name.startsWith("impersonate-") || name.startsWith("x-remote-")),
    [],
  );
  equal(headers["x-kept"], "yes");
  // From a client they are worth nothing.
  const outside = await cluster.handle({
    method: "GET",
    path: "/api/v1/nodes",
    query: "",
    headers: { "x-remote-user": "admin", "x-remote-group": "system:masters" },
    body: new Uint8Array(),
    peer: { address: "192.0.2.1", isHttp2: false },
    signal: new AbortController().signal,
  });
  equal(outside.status, 403);
  await cluster.close();
});

test("security: who may only read runs no command", async () => {
  const { cluster, nodes } = await withPodAt("10.1.2.3");
  await ask(cluster, "POST", "/api/v1/nodes", { metadata: { name: "n1" } });
  await ask(
    cluster,
    "PATCH",
    "/api/v1/nodes/n1/status",
    { status: { addresses: [{ type: "InternalIP", address: "10.9.9.9" }], daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } } } },
    merge,
  );
  await ask(cluster, "POST", `${core}/pods/p/binding`, { target: { kind: "Node", name: "n1" } });
  const rules = [{ apiGroups: [""], resources: ["nodes/proxy", "pods/exec", "pods/attach", "pods/portforward"], verbs: ["get", "list", "watch"] }];
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  await ask(cluster, "POST", `${rbac}/clusterroles`, { metadata: { name: "look" }, rules });
  await ask(cluster, "POST", `${rbac}/clusterrolebindings`, {
    metadata: { name: "look" },
    subjects: [{ kind: "User", name: "reader", apiGroup: "rbac.authorization.k8s.io" }],
    roleRef: { kind: "ClusterRole", name: "look", apiGroup: "rbac.authorization.k8s.io" },
  });
  const upgrade = { connection: "upgrade", upgrade: "websocket" };
  const reader = as(cluster, "reader");
  for (const path of [
    `${core}/pods/p/exec?command=id&stdout=1`,
    `${core}/pods/p/attach?stdout=1`,
    `${core}/pods/p/portforward?ports=1`,
    "/api/v1/nodes/n1/proxy/exec/default/p/c?command=id&output=1",
    "/api/v1/nodes/n1/proxy/run/default/p/c?cmd=id",
    "/api/v1/nodes/n1/proxy//exec/default/p/c",
    "/api/v1/nodes/n1/proxy/%65xec/default/p/c",
    "/api/v1/nodes/n1/proxy/portForward/default/p",
  ]) {
    equal((await ask(reader, "GET", path, undefined, upgrade)).status, 403, path);
  }
  equal(nodes.heard.length, 0);
  equal((await ask(reader, "GET", "/api/v1/nodes/n1/proxy/pods")).status, 200, "reading is allowed");
  await cluster.close();
});

test("security: a redirect is handed to the client, never followed", async () => {
  const { cluster, nodes } = await withPodAt("10.1.2.3");
  nodes.answer = { ...bytesResponse(302, "text/plain", ""), headers: { location: "http://169.254.169.254/latest" } };
  const answer = await ask(cluster, "GET", `${core}/pods/p/proxy/`);
  deepEqual([answer.status, nodes.heard.length], [302, 1]);
  await cluster.close();
});

test("security: bombs of aliases, depth, patches and size are refused", async () => {
  await using cluster = await TestCluster.start();
  const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\na: &a [${"x,".repeat(20)}]\n${"bcdefg"
    .split("")
    .map((name, index) => `${name}: &${name} [${`*${"abcdef"[index]},`.repeat(20)}]`)
    .join("\n")}\n`;
  const bombs: [say: string, method: string, path: string, body: string, type: string, status: number][] = [
    ["aliases", "POST", configMaps, yaml, "application/yaml", 400],
    [
      "depth",
      "POST",
      configMaps,
      `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
      "application/json",
      400,
    ],
    ["size", "POST", configMaps, JSON.stringify({ metadata: { name: "a" }, data: { k: "x".repeat(3 * 1024 * 1024) } }), "application/json", 413],
    [
      "many operations",
      "PATCH",
      `${configMaps}/b`,
      JSON.stringify(Array.from({ length: 10_001 }, () => ({ op: "test", path: "/metadata/name", value: "b" }))),
      "application/json-patch+json",
      413,
    ],
    [
      "copies that double",
      "PATCH",
      `${configMaps}/b`,
      JSON.stringify([
        { op: "add", path: "/data", value: { a: "x".repeat(1000) } },
        ...Array.from({ length: 40 }, () => ({ op: "copy", from: "/data", path: "/data/a" })),
      ]),
      "application/json-patch+json",
      422,
    ],
  ];
  await ask(cluster, "POST", configMaps, { metadata: { name: "b" } });
  for (const [say, method, path, body, type, status] of bombs) {
    const from = performance.now();
    const answer = await ask(cluster, method, path, body, { "content-type": type });
    equal(answer.status, status, `${say}: ${message(answer).slice(0, 200)}`);
    ok(performance.now() - from < 5000, `${say} took too long`);
  }
});

test("security: what a client makes up becomes no metric", async () => {
  await using cluster = await TestCluster.start();
  const series = async () => (await ask(cluster, "GET", "/metrics")).text.split("\n").length;
  await ask(cluster, "GET", "/apis/made.up/v1/things");
  await ask(cluster, "GET", `${configMaps}/none/made-up?dryRun=made-up`);
  await ask(cluster, "MADEUP", "/version");
  await series();
  const before = await series();
  for (let index = 0; index < 50; index++) {
    await ask(cluster, "GET", `/apis/made.up${index}/v1/things${index}`);
    await ask(cluster, "GET", `${configMaps}/none/made-up${index}?dryRun=made-up${index}`);
    await ask(cluster, `MADEUP${index}`, `/made/up/${index}`);
  }
  ok((await series()) - before < 20, "series grow with what clients ask for");
});

test("security: names and namespaces lead to no other key", async () => {
  await using cluster = await TestCluster.start();
  await ask(cluster, "POST", `${core}/secrets`, { metadata: { name: "hidden" }, stringData: { a: "b" } });
  const reader = as(cluster, "reader");
  await ask(cluster, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {
    metadata: { name: "maps" },
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }],
  });
  await ask(cluster, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "maps" },
    subjects: [{ kind: "User", name: "reader", apiGroup: "rbac.authorization.k8s.io" }],
    roleRef: { kind: "ClusterRole", name: "maps", apiGroup: "rbac.authorization.k8s.io" },
  });
  for (const name of ["..%2Fsecrets%2Fdefault%2Fhidden", "..%2F..%2Fsecrets%2Fdefault%2Fhidden", "%2e%2e%2fhidden", "..", ".", "hidden%00"]) {
    for (const path of [
      `${configMaps}/${name}`,
      `/api/v1/namespaces/${name}/configmaps/hidden`,
      `/api/v1/namespaces/..%2Fsecrets%2Fdefault/configmaps/hidden`,
    ]) {
      const answer = await ask(reader, "GET", path);
      ok([400, 403, 404].includes(answer.status), `${path}: ${answer.status}`);
      ok(!answer.text.includes("Opaque"), path);
    }
  }
  for (const name of ["..", ".", "a/b", "a%b"]) {
    equal((await ask(cluster, "POST", configMaps, { metadata: { name } })).status, 422, name);
    equal((await ask(cluster, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", { metadata: { name } })).status, 422, name);
  }
});

test("security: an object of the cluster has no path in a namespace, and one of a namespace none outside", async () => {
  await using cluster = await TestCluster.start();
  for (const [method, path] of [
    ["GET", `${core}/nodes`],
    ["POST", `${core}/nodes`],
    ["GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles/cluster-admin"],
    ["POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles"],
    ["GET", "/api/v1/configmaps/a"],
    ["POST", "/api/v1/configmaps"],
    ["DELETE", "/api/v1/secrets"],
  ] as const) {
    const answer = await ask(cluster, method, path, method === "POST" ? { metadata: { name: "a" } } : undefined);
    ok([404, 405].includes(answer.status), `${method} ${path}: ${answer.status}`);
  }
});

test("security: debug paths are closed, and no secret is in the log", async () => {
  const lines: string[] = [];
  await using cluster = await TestCluster.start({ log: createLog({ level: "debug", write: (line) => void lines.push(line), nowMs: () => 0 }) });
  const somebody = as(cluster, "somebody");
  for (const path of [
    "/debug/pprof/",
    "/debug/flags/v",
    "/debug/api_priority_and_fairness/dump_requests",
    "/metrics",
    "/metrics/slis",
    "/logs/",
    "/statusz",
    "/flagz",
    "/api/v1/nodes/n1/proxy/",
  ]) {
    const outside = await cluster.handle({
      method: "GET",
      path,
      query: "",
      headers: {},
      body: new Uint8Array(),
      peer: { address: "192.0.2.1", isHttp2: false },
      signal: new AbortController().signal,
    });
    deepEqual([outside.status, (await ask(somebody, "GET", path)).status], [403, 403], path);
  }
  const hidden = "SGlkZGVuIHdvcmRz";
  await ask(cluster, "POST", `${core}/secrets`, { metadata: { name: "s" }, data: { a: hidden } });
  await ask(cluster, "POST", `${core}/secrets`, { metadata: { name: "S" }, data: { a: hidden } });
  await ask(cluster, "POST", `${core}/secrets`, `{"metadata":{"name":"t"},"data":{"a":"${hidden}"}`);
  await cluster.handle({
    method: "GET",
    path: "/version",
    query: "",
    headers: { authorization: `Bearer ${hidden}` },
    body: new Uint8Array(),
    peer: { address: "192.0.2.1", isHttp2: false },
    signal: new AbortController().signal,
  });
  deepEqual(
    lines.filter((line) => line.includes(hidden)),
    [],
  );
});

test("security: a whole cluster at its most talkative logs no secret and no token", async () => {
  const lines: string[] = [];
  const hidden = "Hidden-words-of-a-secret";
  const encoded = Buffer.from(hidden).toString("base64");
  // What goes wrong is what is told most about.
  let requests = 0;
  const wrapTransport =
    (transport: Transport): Transport =>
    (request) =>
      ++requests % 5 === 0 ? Promise.reject(new TransportError("the connection was lost")) : transport(request);
  await using cluster = await startCluster({
    nodes: 1,
    wrapTransport,
    log: createLog({ level: "debug", write: (line) => void lines.push(line), nowMs: () => 0 }),
  });
  const secret = { kind: "Secret", apiVersion: "v1", metadata: { name: "s", namespace: "default" }, data: { a: encoded } };
  const registry = {
    kind: "Secret",
    apiVersion: "v1",
    metadata: { name: "r", namespace: "default" },
    type: "kubernetes.io/dockerconfigjson",
    stringData: {
      ".dockerconfigjson": JSON.stringify({
        auths: { "example.com": { username: "u", password: hidden, auth: Buffer.from(`u:${hidden}`).toString("base64") } },
      }),
    },
  };
  const containers = [
    {
      name: "c",
      image: "example.com/i",
      env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "a" } } }],
      volumeMounts: [{ name: "v", mountPath: "/v" }],
    },
  ];
  const missing = [{ name: "c", image: "example.com/i", env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "none" } } }] }];
  await cluster.apply(
    secret,
    registry,
    { ...pod("p", { containers, imagePullSecrets: [{ name: "r" }], volumes: [{ name: "v", secret: { secretName: "s" } }] }, { namespace: "default" }) },
    { ...pod("q", { containers: missing }, { namespace: "default" }) },
  );
  await cluster.advance("2m");
  ok(lines.length > 0);
  deepEqual(
    lines.filter((line) => [hidden, encoded, "eyJ", Buffer.from(`u:${hidden}`).toString("base64")].some((text) => line.includes(text))),
    [],
  );
});

test("security: keys with a meaning in JavaScript are keys like others", async () => {
  await using cluster = await TestCluster.start();
  const made = await ask(
    cluster,
    "POST",
    configMaps,
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","labels":{"constructor":"x","toString":"y"}},"data":{"__proto__":"mine","constructor":"c","hasOwnProperty":"h"}}',
  );
  equal(made.status, 201, made.text);
  ok((await ask(cluster, "GET", `${configMaps}/a`)).text.includes('"data":{"__proto__":"mine","constructor":"c","hasOwnProperty":"h"}'));
  for (const [type, body] of [
    ["application/merge-patch+json", '{"__proto__":{"polluted":"x"},"constructor":{"prototype":{"polluted":"x"}},"data":{"__proto__":"x"}}'],
    ["application/json-patch+json", '[{"op":"add","path":"/__proto__/polluted","value":"x"}]'],
    ["application/json-patch+json", '[{"op":"add","path":"/constructor/prototype/polluted","value":"x"}]'],
    ["application/strategic-merge-patch+json", '{"metadata":{"__proto__":{"polluted":"x"}}}'],
  ] as const) {
    await ask(cluster, "PATCH", `${configMaps}/a`, body, { "content-type": type });
    equal(({} as { polluted?: string }).polluted, undefined, `${type} ${body}`);
  }
  const selected = await ask(cluster, "GET", `${configMaps}?labelSelector=constructor%3Dx%2CtoString%2C!valueOf`);
  equal((selected.json["items"] as unknown[]).length, 1);
  const { labels } = (await ask(cluster, "GET", `${configMaps}/a`)).json["metadata"] as { labels: object };
  deepEqual(Object.entries(labels), [
    ["constructor", "x"],
    ["toString", "y"],
  ]);
});

test("security: no expression of a client takes for ever", async () => {
  await using cluster = await TestCluster.start();
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } } } };
  await ask(cluster, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "ws.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "W", plural: "ws" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  });
  await cluster.turn();
  const from = performance.now();
  const answer = await ask(cluster, "POST", "/apis/example.com/v1/namespaces/default/ws", {
    apiVersion: "example.com/v1",
    kind: "W",
    metadata: { name: "w" },
    spec: { text: `${"a".repeat(40)}!` },
  });
  equal(answer.status, 422, answer.text);
  ok(performance.now() - from < 2000);
});
