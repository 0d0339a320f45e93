/** What flags and gates of the server change for its clients. */
import { test } from "node:test";
import { deepEqual, equal, match } from "node:assert/strict";
import { readBody } from "../client/index.ts";
import { TestCluster } from "../testing/cluster.ts";

type Headers = Readonly<Record<string, string>>;

async function ask(cluster: TestCluster, method: string, path: string, body?: object | string, headers: Headers = {}) {
  const [plain = "", query = ""] = path.split("?");
  const bytes = body === undefined ? new Uint8Array() : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const contentType: Headers = body === undefined ? {} : { "content-type": "application/json" };
  const response = await cluster.client.send({ method, path: plain, query, headers: { ...contentType, ...headers }, body: bytes });
  return { status: response.status, headers: response.headers, text: Buffer.from(await readBody(response.body)).toString() };
}

const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string) => ({ kind: "ConfigMap", apiVersion: "v1", metadata: { name } });

test("flags: origins that may ask", async () => {
  await using cluster = await TestCluster.start({ flags: { "cors-allowed-origins": String.raw`//a\.example(:|$),^https://exact\.example$` } });
  const table: [origin: string, isAllowed: boolean][] = [
    ["https://a.example", true],
    ["http://a.example:8080", true],
    ["https://sub.a.example", false],
    ["https://exact.example:1", false],
    ["null", false],
  ];
  for (const [origin, isAllowed] of table)
    equal((await ask(cluster, "GET", "/api", undefined, { origin })).headers["access-control-allow-origin"], isAllowed ? origin : undefined, origin);
  const preflight = await ask(cluster, "OPTIONS", "/api/v1/pods", undefined, { origin: "https://a.example" });
  deepEqual([preflight.status, preflight.headers["access-control-allow-methods"]], [204, "POST, GET, OPTIONS, PUT, DELETE, PATCH"]);
});

test("flags: transport security, host name, time limits", async () => {
  await using cluster = await TestCluster.start({
    flags: { "strict-transport-security-directives": "max-age=1,includeSubDomains", "external-hostname": "api.example" },
  });
  for (const path of ["/api", "/nothing"]) equal((await ask(cluster, "GET", path)).headers["strict-transport-security"], "max-age=1; includeSubDomains");
  match((await ask(cluster, "GET", "/api")).text, /"serverAddress":"api\.example:6443"/);
  match((await ask(cluster, "GET", "/.well-known/openid-configuration")).text, /"jwks_uri":"https:\/\/api\.example:6443\/openid/);
  const late = await ask(cluster, "GET", "/api/v1/namespaces?timeout=1ns");
  deepEqual([late.status, late.headers["content-type"]], [504, "text/plain; charset=utf-8"]);
  equal(JSON.parse(late.text).message, "Timeout: request did not complete within the allotted timeout");
});

test("flags: without a garbage collector nothing waits for it", async () => {
  await using cluster = await TestCluster.start({ flags: { "enable-garbage-collector": "false" } });
  for (const propagationPolicy of ["Foreground", "Orphan"]) {
    await ask(cluster, "POST", configMaps, configMap("a"));
    const deleted = await ask(cluster, "DELETE", `${configMaps}/a`, { propagationPolicy });
    deepEqual([JSON.parse(deleted.text).kind, (await ask(cluster, "GET", `${configMaps}/a`)).status], ["Status", 404], propagationPolicy);
  }
});

test("gates: streaming lists, unsafe deletion, hashes of stored versions, scaling to zero", async () => {
  await using cluster = await TestCluster.start({
    flags: { "feature-gates": "WatchList=false,AllowUnsafeMalformedObjectDeletion=false,StorageVersionHash=false,HPAScaleToZero=false" },
  });
  const watch = await ask(cluster, "GET", "/api/v1/namespaces?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
  deepEqual(
    [watch.status, JSON.parse(watch.text).message],
    [
      422,
      'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    ],
  );
  await ask(cluster, "POST", configMaps, configMap("a"));
  equal((await ask(cluster, "DELETE", `${configMaps}/a?ignoreStoreReadErrorWithClusterBreakingPotential=true`)).status, 200);
  equal((await ask(cluster, "GET", "/apis/apps/v1")).text.includes("storageVersionHash"), false);
  const autoscaler = {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "h" },
    spec: {
      minReplicas: 0,
      maxReplicas: 2,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
      metrics: [{ type: "External", external: { metric: { name: "m" }, target: { type: "Value", value: "1" } } }],
    },
  };
  const refused = await ask(cluster, "POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", autoscaler);
  match(JSON.parse(refused.text).message, /spec\.minReplicas: Invalid value: 0: must be greater than or equal to 1$/);
});

test("flags: profiles and how much is logged", async () => {
  await using cluster = await TestCluster.start();
  const table: [method: string, path: string, body: string | undefined, status: number, text: RegExp][] = [
    ["GET", "/debug/pprof", undefined, 302, /^<a href="\/debug\/pprof\/">Found<\/a>\.\n\n$/],
    ["GET", "/debug/pprof/", undefined, 200, /profile/],
    ["GET", "/debug/pprof/nope", undefined, 404, /^Unknown profile\n$/],
    ["GET", "/debug/pprof/heap", undefined, 200, /^\{"head":/],
    ["GET", "/debug/flags/v", undefined, 406, /^unsupported http method\n$/],
    ["PUT", "/debug/flags/v", "x", 400, /^strconv\.ParseUint: parsing "x": invalid syntax\n$/],
    ["PUT", "/debug/flags/v", "4", 200, /^successfully set klog\.logging\.verbosity to 4\n$/],
  ];
  for (const [method, path, body, status, text] of table) {
    const answer = await ask(cluster, method, path, body);
    equal(answer.status, status, path);
    match(answer.text, text);
  }
  await using without = await TestCluster.start({ flags: { profiling: "false" } });
  for (const path of ["/debug/pprof/", "/debug/flags/v"])
    deepEqual([(await ask(without, "GET", path)).status, (await ask(without, "GET", path)).text], [404, "404 page not found\n"]);
});

test("flags: the kubernetes service: a node port, and endpoints that come back", async () => {
  await using cluster = await TestCluster.start({ flags: { "kubernetes-service-node-port": "31111", "endpoint-reconciler-type": "lease" } });
  const service = JSON.parse((await ask(cluster, "GET", "/api/v1/namespaces/default/services/kubernetes")).text);
  deepEqual([service.spec.type, service.spec.ports[0].nodePort], ["NodePort", 31_111]);
  const paths = ["/api/v1/namespaces/default/endpoints/kubernetes", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"] as const;
  const read = async () => {
    const [endpoints, slice] = await Promise.all(paths.map(async (path) => JSON.parse((await ask(cluster, "GET", path)).text)));
    return [endpoints.subsets, slice.endpoints, slice.addressType];
  };
  const expected = [
    [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ name: "https", port: 6443, protocol: "TCP" }] }],
    [{ addresses: ["192.0.2.1"], conditions: { ready: true } }],
    "IPv4",
  ];
  deepEqual(await read(), expected);
  for (const path of paths) equal((await ask(cluster, "DELETE", path)).status, 200);
  await cluster.advance(10_000);
  deepEqual(await read(), expected);
});

test("flags: addresses of Services are kept as written and taken once", async () => {
  await using cluster = await TestCluster.start({ flags: { "service-cluster-ip-range": "10.0.0.0/29,fd00:10::/108" } });
  const services = "/api/v1/namespaces/default/services";
  const create = async (name: string, spec: object) =>
    JSON.parse(
      (await ask(cluster, "POST", services, { kind: "Service", apiVersion: "v1", metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } })).text,
    );
  equal((await create("a", { clusterIP: "FD00:10::7:9" })).spec?.clusterIP, "FD00:10::7:9");
  equal((await ask(cluster, "GET", "/apis/networking.k8s.io/v1/ipaddresses/fd00:10::7:9")).status, 200);
  match((await create("b", { clusterIP: "fd00:10::7:9" })).message, /failed to allocate IP fd00:10::7:9: provided IP is already allocated$/);
  match(
    (await create("c", { ipFamilyPolicy: "RequireDualStack", clusterIPs: ["10.0.0.3", "fd00:10:0::7:9"], clusterIP: "10.0.0.3" })).message,
    /Invalid value: \["10\.0\.0\.3","fd00:10:0::7:9"\]: failed to allocate IP fd00:10:0::7:9/,
  );
  for (let index = 0; index < 5; index++) equal((await create(`s${index}`, {})).kind, "Service");
  equal((await create("full", {})).message, 'Internal error occurred: failed to allocate a serviceIP for Service "full": range is full');
  equal((await ask(cluster, "DELETE", `${services}/a`)).status, 200);
  equal((await ask(cluster, "GET", "/apis/networking.k8s.io/v1/ipaddresses/fd00:10::7:9")).status, 404);
});
