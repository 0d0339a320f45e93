import assert from "node:assert/strict";
import { once } from "node:events";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { listenTls } from "../../apimachinery/listener/tls-listener.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";
import { CertificateTrust } from "../../apiserver/authn/certificate-trust.ts";
import { requestHeaders } from "../../apiserver/authn/request-headers.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { loopTurn } from "../../base/virtual-clock.ts";
import { ask, openWatch } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";
import { Certificates } from "../certificates/certificates.ts";
import { ExtensionConnections } from "./extension-connections.ts";
import { keysInMemory } from "../certificates/key-store.ts";

const json = (body: object, status = 200, headers: ApiResponse["headers"] = {}) => bytesResponse(status, "application/json", JSON.stringify(body), headers);
const things = "/apis/agg.example.com/v1/namespaces/default/things";
const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const resources = {
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: "agg.example.com/v1",
  resources: [
    { name: "things", singularName: "thing", namespaced: true, kind: "Thing", verbs: ["get", "list", "create", "watch"], shortNames: ["th"] },
    { name: "things/status", singularName: "", namespaced: true, kind: "Thing", verbs: ["get"] },
  ],
};
const openApi = {
  swagger: "2.0",
  info: { title: "things", version: "1" },
  paths: {
    "/apis/agg.example.com/v1/things": {
      get: { operationId: "listThings", responses: { 200: { description: "OK", schema: { $ref: "#/definitions/com.example.Thing" } } } },
    },
    "/apis/other.example.com/v1/x": { get: {} },
  },
  definitions: {
    "com.example.Thing": { type: "object", properties: { metadata: { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" } } },
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": { type: "object", description: "another one" },
    unused: { type: "string" },
  },
};

/** An extension API server over TLS, and a cluster whose API server knows of it. */
async function start(context: TestContext) {
  const certificates = new Certificates(keysInMemory(), systemClock());
  const frontProxy = certificates.frontProxy();
  const authority = await frontProxy.authority();
  const front = requestHeaders(
    new CertificateTrust([authority]),
    { allowedNames: ["front-proxy-client"], username: ["x-remote-user"], uid: ["x-remote-uid"], group: ["x-remote-group"], extraPrefixes: ["x-remote-extra-"] },
    systemClock(),
  );
  const extension = {
    asked: [] as ApiRequest[],
    users: [] as unknown[],
    answer: (request: ApiRequest): ApiResponse | Promise<ApiResponse> => published(request),
  };
  const serving = await certificates.serving("extension", ["agg.default.svc"]);
  const handler = async (request: ApiRequest) => {
    extension.asked.push(request);
    extension.users.push(await front.authenticate(request));
    return extension.answer(request);
  };
  const listener = await listenTls({ address: "127.0.0.1", port: 0, log: silentLog, maxBodyBytes: 1024, ...serving, handler });
  const connections = new ExtensionConnections(await frontProxy.client("front-proxy-client", "front-proxy-client", []));
  const cluster = await TestCluster.start({ extensions: connections });
  context.after(async () => {
    await cluster.close();
    await connections.close();
    await listener.close();
  });
  const service = { apiVersion: "v1", kind: "Service", metadata: { name: "agg" }, spec: { type: "ExternalName", externalName: "localhost" } };
  assert.equal((await ask(cluster, "POST", "/api/v1/namespaces/default/services", service)).status, 201);
  const spec = {
    group: "agg.example.com",
    version: "v1",
    groupPriorityMinimum: 2000,
    versionPriority: 10,
    caBundle: Buffer.from(await certificates.authority()).toString("base64"),
    service: { namespace: "default", name: "agg", port: listener.port },
  };
  assert.equal(
    (await ask(cluster, "POST", apiServices, { apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name: "v1.agg.example.com" }, spec }))
      .status,
    201,
  );
  return { cluster, extension, port: listener.port };
}

const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices";

function published({ path, headers }: ApiRequest): ApiResponse {
  if (path === "/apis/agg.example.com/v1") return json(resources);
  if (path === "/openapi/v2") return json(openApi);
  if (path === "/openapi/v3")
    return json({
      paths: {
        "apis/agg.example.com/v1": { serverRelativeURL: "/openapi/v3/apis/agg.example.com/v1?hash=1" },
        "apis/apps/v1": { serverRelativeURL: "/openapi/v3/apis/apps/v1?hash=evil" },
      },
    });
  if (path.startsWith("/openapi/v3/apis/agg.example.com/v1")) return json({ openapi: "3.0.0" });
  if (path.startsWith(things)) return json({ kind: "ThingList", apiVersion: "agg.example.com/v1", metadata: {}, items: [] });
  return bytesResponse(404, "text/plain", `404 page not found${headers["x"] ?? ""}`);
}

async function availability(cluster: TestCluster): Promise<{ status: string; reason: string; message: string }> {
  const { json: found } = await ask(cluster, "GET", `${apiServices}/v1.agg.example.com`);
  return ((found["status"] as { conditions?: unknown[] }).conditions?.[0] ?? {}) as { status: string; reason: string; message: string };
}

/** Lets sockets do their work until it is so. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await loopTurn();
}

const isPublished = async (cluster: TestCluster) =>
  (await ask(cluster, "GET", "/openapi/v3")).text.includes("agg.example.com") &&
  (await ask(cluster, "GET", "/apis", undefined, { accept: aggregatedType })).text.includes('"thing"');

test("an extension API server becomes available, and what it serves is part of discovery and OpenAPI", { timeout: 60_000 }, async (context) => {
  const { cluster, extension } = await start(context);
  await until(async () => (await availability(cluster)).status === "True");
  const { reason, message } = await availability(cluster);
  assert.deepEqual([reason, message], ["Passed", "all checks passed"]);
  assert.deepEqual(
    [extension.asked[0]!.path, extension.asked[0]!.headers["x-remote-user"], extension.asked[0]!.headers["x-remote-group"]],
    ["/apis/agg.example.com/v1", "system:kube-aggregator", "system:masters"],
  );
  await until(() => isPublished(cluster));

  const groups = ((await ask(cluster, "GET", "/apis")).json["groups"] as unknown as { name: string }[]).map(({ name }) => name);
  assert.deepEqual(groups.slice(-2), ["storagemigration.k8s.io", "agg.example.com"]);
  const version = { groupVersion: "agg.example.com/v1", version: "v1" };
  assert.deepEqual((await ask(cluster, "GET", "/apis/agg.example.com")).json, {
    kind: "APIGroup",
    apiVersion: "v1",
    name: "agg.example.com",
    versions: [version],
    preferredVersion: version,
  });
  const aggregated = (await ask(cluster, "GET", "/apis", undefined, { accept: aggregatedType })).json["items"] as unknown as {
    metadata: { name: string };
    versions: object[];
  }[];
  const kind = { group: "", version: "", kind: "Thing" };
  assert.deepEqual(aggregated.find(({ metadata }) => metadata.name === "agg.example.com")!.versions, [
    {
      version: "v1",
      resources: [
        {
          resource: "things",
          responseKind: kind,
          scope: "Namespaced",
          singularResource: "thing",
          verbs: ["get", "list", "create", "watch"],
          shortNames: ["th"],
          subresources: [{ subresource: "status", responseKind: kind, verbs: ["get"] }],
        },
      ],
      freshness: "Current",
    },
  ]);

  const v3 = (await ask(cluster, "GET", "/openapi/v3")).json["paths"] as unknown as Record<string, { serverRelativeURL: string }>;
  assert.equal(v3["apis/agg.example.com/v1"]!.serverRelativeURL, "/openapi/v3/apis/agg.example.com/v1?hash=1");
  assert.ok(!v3["apis/apps/v1"]!.serverRelativeURL.includes("evil"), "nobody speaks for another version");
  assert.deepEqual((await ask(cluster, "GET", "/openapi/v3/apis/agg.example.com/v1?hash=1")).json, { openapi: "3.0.0" });
  const { paths, definitions } = (await ask(cluster, "GET", "/openapi/v2")).json as unknown as {
    paths: Record<string, object>;
    definitions: Record<string, { description?: string; properties?: { metadata: object } }>;
  };
  assert.ok("/apis/agg.example.com/v1/things" in paths && "/api/v1/pods" in paths && !("/apis/other.example.com/v1/x" in paths) && !("unused" in definitions));
  assert.deepEqual(definitions["com.example.Thing"]!.properties!.metadata, { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta_v2" });
  assert.equal(definitions["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta_v2"]!.description, "another one");
  const protobuf = await ask(cluster, "GET", "/openapi/v2", undefined, { accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" });
  assert.ok(protobuf.status === 200 && protobuf.text.includes("listThings"));

  assert.equal((await ask(cluster, "DELETE", `${apiServices}/v1.agg.example.com`)).status, 200);
  await until(async () => (await ask(cluster, "GET", "/apis/agg.example.com")).status === 404);
  assert.ok(!(await ask(cluster, "GET", "/openapi/v2")).text.includes("agg.example.com"));
});

test("requests are passed on to an extension API server under the client's identity, which the client cannot choose", { timeout: 60_000 }, async (context) => {
  const { cluster, extension, port } = await start(context);
  await until(async () => (await availability(cluster)).status === "True" && (await isPublished(cluster)));
  const send = async (method: string, target: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await ask(cluster, method, target, body, headers);
    return { answer, request: extension.asked.at(-1)!, user: extension.users.at(-1) };
  };
  const listed = await send("GET", `${things}?limit=5&labelSelector=a%3Db`, undefined, {
    "x-remote-user": "evil",
    "x-remote-group": "evil",
    "x-remote-extra-a": "b",
    authorization: "Bearer x",
    "x-custom": "kept",
    "x-forwarded-for": "1.2.3.4",
  });
  assert.deepEqual([listed.answer.status, listed.answer.json["kind"]], [200, "ThingList"]);
  assert.deepEqual([listed.request.path, listed.request.query], [things, "labelSelector=a%3Db&limit=5"]);
  const { headers } = listed.request;
  assert.deepEqual(
    ["host", "x-forwarded-uri", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-for", "x-custom", "authorization", "x-remote-extra-a"].map(
      (name) => headers[name],
    ),
    [`localhost:${port}`, things, `localhost:${port}`, "https", "1.2.3.4, 127.0.0.1", "kept", undefined, undefined],
  );
  assert.equal(headers["audit-id"], listed.answer.headers["audit-id"]);
  assert.deepEqual(listed.user, { user: { username: "admin", groups: ["system:masters", "system:authenticated"] } });

  const impersonated = await send("GET", things, undefined, {
    "impersonate-user": "jane",
    "impersonate-uid": "u-1",
    "impersonate-group": "system:masters",
    "impersonate-extra-example.com%2fscope%20x": "v",
  });
  assert.deepEqual(impersonated.user, {
    user: { username: "jane", uid: "u-1", groups: ["system:masters", "system:authenticated"], extra: { "example.com/scope x": ["v"] } },
  });
  assert.ok(!Object.keys(impersonated.request.headers).some((name) => name.startsWith("impersonate-")));
  assert.equal(
    (await send("GET", things, undefined, { "impersonate-user": "jane" })).answer.json["message"],
    'things.agg.example.com is forbidden: User "jane" cannot list resource "things" in API group "agg.example.com" in the namespace "default"',
  );

  const created = await send("POST", `${things}?fieldManager=x`, { kind: "Thing" });
  assert.deepEqual(
    [created.request.method, Buffer.from(created.request.body).toString(), created.request.headers["content-type"]],
    ["POST", '{"kind":"Thing"}', "application/json"],
  );
  assert.equal((await send("GET", `${things}/a%2Fb%20c?x=%2F&y=a+b`)).request.path, `${things}/a/b%20c`);
  assert.deepEqual([(await send("HEAD", things)).answer.status, extension.asked.at(-1)!.method], [200, "HEAD"]);
  assert.deepEqual([(await send("OPTIONS", things)).answer.status, extension.asked.at(-1)!.method], [200, "OPTIONS"]);
  assert.deepEqual([(await send("GET", "/apis/agg.example.com/v1/whatever/else")).answer.text], ["404 page not found"]);

  const answers: readonly [answer: (request: ApiRequest) => ApiResponse | Promise<ApiResponse>, status: number, text: string | RegExp][] = [
    [() => bytesResponse(500, "text/plain", "boom"), 500, "boom"],
    [() => json({ kind: "Status", code: 422 }, 422), 422, '{"kind":"Status","code":422}'],
    [
      () => ({ status: 302, headers: { location: "https://elsewhere.example/" }, body: { kind: "bytes", bytes: Buffer.from("<a>") } }),
      502,
      "the backend attempted to redirect this request, which is not permitted",
    ],
    [
      () => ({ status: 302, headers: { location: "/elsewhere" }, body: { kind: "bytes", bytes: Buffer.alloc(0) } }),
      502,
      "the backend attempted to redirect this request, which is not permitted",
    ],
    [() => Promise.reject(new Error("closed")), 503, "error trying to reach service: EOF\n"],
  ];
  for (const [answer, status, text] of answers) {
    extension.answer = answer;
    const { answer: got } = await send("GET", things);
    assert.deepEqual([got.status, got.text], [status, text]);
  }
  extension.answer = () => json({}, 200, { "audit-id": "mine", "cache-control": "max-age=5", "set-cookie": ["a=b", "c=d"], warning: '299 - "agg"' });
  const own = (await send("GET", things)).answer.headers;
  assert.deepEqual(
    [own["audit-id"]![1], own["cache-control"], own["set-cookie"], own["warning"]],
    ["mine", ["no-cache, private", "max-age=5"], ["a=b", "c=d"], '299 - "agg"'],
  );

  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  extension.answer = () => ({
    status: 200,
    headers: { "content-type": "application/json" },
    body: {
      kind: "stream",
      chunks: (async function* () {
        yield Buffer.from('{"type":"ADDED","object":{"metadata":{"name":"t"}}}\n');
        await isOver;
        yield Buffer.from('{"type":"DELETED","object":{"metadata":{"name":"t"}}}\n');
      })(),
    },
  });
  const watch = await openWatch(cluster, `${things}?watch=true`);
  await until(async () => watch.events.length === 1);
  end();
  await watch.ended;
  assert.deepEqual(
    watch.events.map(({ type }) => type),
    ["ADDED", "DELETED"],
  );

  extension.answer = ({ headers: { upgrade } }) => ({
    status: 101,
    headers: { upgrade: upgrade!, connection: "Upgrade" },
    body: {
      kind: "upgrade",
      accept: async ({ stream }) => {
        const [heard] = (await once(stream, "data")) as [Buffer];
        stream.end(`heard ${heard.toString()}`);
        await once(stream, "close");
      },
    },
  });
  const upgraded = await cluster.client.send({
    method: "GET",
    path: `${things}/t/stream`,
    query: "",
    headers: { connection: "Upgrade", upgrade: "thing/1" },
    body: new Uint8Array(),
  });
  assert.deepEqual([upgraded.status, upgraded.headers["upgrade"]], [101, "thing/1"]);
  assert.ok(upgraded.body.kind === "upgrade");
  const [client, server] = duplexPair();
  const joined = upgraded.body.accept({ stream: server, head: Buffer.from("hello") });
  const [said] = (await once(client, "data")) as [Buffer];
  assert.equal(said.toString(), "heard hello");
  client.destroy();
  await joined;
});

test("an extension API server that fails is unavailable until it answers again", { timeout: 60_000 }, async (context) => {
  const { cluster, extension, port } = await start(context);
  await until(async () => (await availability(cluster)).status === "True" && (await isPublished(cluster)));
  extension.answer = () => bytesResponse(500, "text/plain", "boom");
  await cluster.clock.advance(30_000, loopTurn);
  await until(async () => (await availability(cluster)).status === "False");
  const url = `https://localhost:${port}/apis/agg.example.com/v1`;
  const { reason, message } = await availability(cluster);
  assert.deepEqual([reason, message], ["FailedDiscoveryCheck", `failing or missing response from ${url}: bad status from ${url}: 500`]);
  const refused = await ask(cluster, "GET", things);
  assert.deepEqual([refused.status, refused.text, refused.headers["content-type"]], [503, "service unavailable\n", "text/plain; charset=utf-8"]);
  const aggregated = (await ask(cluster, "GET", "/apis", undefined, { accept: aggregatedType })).json["items"] as unknown as {
    metadata: { name: string };
    versions: { freshness: string; resources: object[] }[];
  }[];
  const [version] = aggregated.find(({ metadata }) => metadata.name === "agg.example.com")!.versions;
  assert.deepEqual([version!.freshness, version!.resources.length], ["Stale", 1]);

  extension.answer = () => new Promise<ApiResponse>(() => {});
  await cluster.clock.advance(5000, loopTurn);
  await until(async () => extension.asked.length > 0);
  const count = extension.asked.length;
  await cluster.clock.advance(15_000, loopTurn);
  await until(async () => extension.asked.length > count || (await availability(cluster)).message.includes("deadline exceeded"));
  extension.answer = (request) => (request.path === "/apis/agg.example.com/v1" ? json(resources) : bytesResponse(200, "application/json", "garbage"));
  await cluster.clock.advance(60_000, loopTurn);
  await until(async () => {
    await cluster.clock.advance(1000, loopTurn);
    return (await availability(cluster)).status === "True";
  });
  assert.equal((await ask(cluster, "GET", "/openapi/v2")).status, 200, "garbage does no harm");
  const caBundle = Buffer.from(await new Certificates(keysInMemory(), systemClock()).authority()).toString("base64");
  await ask(cluster, "PATCH", `${apiServices}/v1.agg.example.com`, { spec: { caBundle } }, { "content-type": "application/merge-patch+json" });
  await until(async () => (await availability(cluster)).status === "False");
  assert.equal(
    (await availability(cluster)).message,
    `failing or missing response from ${url}: Get "${url}": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
  );
});
