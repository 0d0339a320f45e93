import { test } from "node:test";
import { deepEqual, equal, match, notDeepEqual, ok } from "node:assert/strict";
import { seededRandom } from "../../base/random.ts";
import type { Service } from "../../api/core-v1/types.ts";
import { ask } from "../../testing/ask.ts";
import type { Answer } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";
import { FaultStore } from "../../testing/fault-store.ts";
import type { FaultRates } from "../../testing/fault-store.ts";

const services = "/api/v1/namespaces/default/services";
const service = (name: string, spec: object = {}) => ({ kind: "Service", apiVersion: "v1", metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
const specOf = (answer: Answer) => (answer.json as unknown as Service).spec!;
const many = (count: number, make: (index: number) => object, cluster: TestCluster) =>
  Promise.all(Array.from({ length: count }, (_, index) => ask(cluster, "POST", services, make(index))));
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort();
const addressNames = async (cluster: TestCluster) =>
  ((await ask(cluster, "GET", "/apis/networking.k8s.io/v1/ipaddresses")).json["items"] as unknown as Service[]).map(({ metadata }) => metadata.name!).sort();

test("services: of many at once none gets another's address or port", async () => {
  await using cluster = await TestCluster.start();
  const answers = await many(
    50,
    (index) =>
      service(`s${index}`, {
        type: "NodePort",
        ports: [
          { name: "a", port: 80 },
          { name: "b", port: 81 },
        ],
      }),
    cluster,
  );
  deepEqual([...new Set(statuses(answers))], [201]);
  const addresses = answers.map((answer) => specOf(answer).clusterIP!);
  const ports = answers.flatMap((answer) => specOf(answer).ports!.map(({ nodePort }) => nodePort!));
  equal(new Set(addresses).size, 50);
  equal(new Set(ports).size, 100);
  ok(addresses.every((address) => address.startsWith("10.0.")) && ports.every((port) => port >= 30_000 && port <= 32_767));
  deepEqual(await addressNames(cluster), ["10.0.0.1", ...addresses].sort());
});

test("services: an address or port that many ask for goes to one", async () => {
  await using cluster = await TestCluster.start();
  const one = [201, ...Array.from({ length: 9 }, () => 422)];
  deepEqual(statuses(await many(10, (index) => service(`a${index}`, { clusterIP: "10.0.5.5" }), cluster)), one);
  deepEqual(statuses(await many(10, (index) => service(`p${index}`, { type: "NodePort", ports: [{ port: 80, nodePort: 30_123 }] }), cluster)), one);
  const balanced = (index: number) => service(`h${index}`, { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 30_200 });
  deepEqual(statuses(await many(10, balanced, cluster)), [201, ...Array.from({ length: 9 }, () => 500)]);
});

test("services: refusals", async () => {
  await using cluster = await TestCluster.start();
  await ask(cluster, "POST", services, service("taken", { clusterIP: "10.0.5.5", type: "NodePort", ports: [{ port: 80, nodePort: 30_123 }] }));
  const local = { type: "LoadBalancer", externalTrafficPolicy: "Local" };
  const table: [spec: object, status: number, message: RegExp][] = [
    [
      { clusterIP: "10.0.5.5" },
      422,
      /spec\.clusterIPs: Invalid value: \["10\.0\.5\.5"\]: failed to allocate IP 10\.0\.5\.5: provided IP is already allocated$/,
    ],
    [{ clusterIP: "192.0.2.1" }, 422, /failed to allocate IP 192\.0\.2\.1: the provided network does not match the current range$/],
    [
      { type: "NodePort", ports: [{ port: 80, nodePort: 30_123 }] },
      422,
      /spec\.ports\[0\]\.nodePort: Invalid value: 30123: provided port is already allocated$/,
    ],
    [{ type: "NodePort", ports: [{ port: 80, nodePort: 80 }] }, 422, /provided port is not in the valid range\. The range of valid ports is 30000-32767$/],
    [
      { ...local, healthCheckNodePort: 30_123 },
      500,
      /^Internal error occurred: failed to allocate requested HealthCheck NodePort 30123: provided port is already allocated$/,
    ],
    [
      { ...local, healthCheckNodePort: 80 },
      500,
      /^Internal error occurred: failed to allocate requested HealthCheck NodePort 80: provided port is not in the valid range\. The range of valid ports is 30000-32767$/,
    ],
  ];
  for (const [spec, status, message] of table) {
    const answer = await ask(cluster, "POST", services, service("x", spec));
    equal(answer.status, status, answer.text);
    match(answer.json["message"] as string, message);
  }
});

test("services: what was not stored gives its address and ports back", async () => {
  await using cluster = await TestCluster.start();
  const spec = { clusterIP: "10.0.5.5", type: "NodePort", ports: [{ port: 80, nodePort: 30_123 }] };
  await ask(cluster, "POST", services, service("taken"));
  equal((await ask(cluster, "POST", services, service("taken", spec))).status, 409);
  equal((await ask(cluster, "POST", `${services}?dryRun=All`, service("a", spec))).status, 201);
  equal(
    (
      await ask(
        cluster,
        "POST",
        services,
        service("a", {
          ...spec,
          ports: [
            { name: "a", port: 80, nodePort: 30_123 },
            { name: "b", port: 81, nodePort: 1 },
          ],
        }),
      )
    ).status,
    422,
  );
  equal((await ask(cluster, "POST", services, service("a", spec))).status, 201);
  equal((await ask(cluster, "DELETE", `${services}/a`)).status, 200);
  equal((await ask(cluster, "POST", services, service("b", spec))).status, 201);
});

test("services: a change of type gains and loses what it has to", async () => {
  await using cluster = await TestCluster.start();
  const merge = { "content-type": "application/merge-patch+json" };
  const change = async (spec: object) => specOf(await ask(cluster, "PATCH", `${services}/a`, { spec }, merge));
  const { clusterIP } = specOf(await ask(cluster, "POST", services, service("a")));
  const nodePort = (await change({ type: "NodePort" })).ports![0]!.nodePort!;
  ok(nodePort >= 30_000);
  deepEqual([(await change({ sessionAffinity: "ClientIP" })).clusterIP, (await change({})).ports![0]!.nodePort], [clusterIP, nodePort]);
  equal((await change({ type: "ClusterIP" })).ports![0]!.nodePort, undefined);
  const external = await change({ type: "ExternalName", externalName: "example.com", clusterIP: null, clusterIPs: null });
  equal(external.clusterIP, undefined);
  deepEqual(await addressNames(cluster), ["10.0.0.1"]);
  equal((await ask(cluster, "POST", services, service("b", { clusterIP }))).status, 201);
});

test("services: none gets another's address or port when the store fails", async () => {
  const rates: { -readonly [Kind in keyof FaultRates]: FaultRates[Kind] } = {};
  await using cluster = await TestCluster.start({ wrapStore: (inner, clock) => new FaultStore(inner, { clock, random: seededRandom(2), rates }) });
  Object.assign(rates, { failBefore: 0.1, failAfter: 0.3 });
  for (let round = 0; round < 5; round++)
    await many(20, (index) => service(`s${round}-${index}`, { type: "NodePort", ...(index % 2 === 0 && { clusterIP: `10.0.5.${index}` }) }), cluster);
  Object.assign(rates, { failBefore: 0, failAfter: 0 });
  const specs = ((await ask(cluster, "GET", services)).json["items"] as unknown as Service[]).map(({ spec }) => spec!);
  ok(specs.length > 30);
  equal(new Set(specs.map(({ clusterIP }) => clusterIP)).size, specs.length);
  equal(new Set(specs.flatMap(({ ports }) => ports!.map(({ nodePort }) => nodePort))).size, specs.length);
  // Answers that were lost have left Services without their address objects: these are made after a while.
  const addresses = ["10.0.0.1", ...specs.map(({ clusterIP }) => clusterIP!)].sort();
  notDeepEqual(await addressNames(cluster), [...new Set(addresses)]);
  await cluster.clock.advance(200_000);
  deepEqual(await addressNames(cluster), [...new Set(addresses)]);
});

test("services: a second range", async () => {
  await using cluster = await TestCluster.start();
  const cidrs = "/apis/networking.k8s.io/v1/servicecidrs";
  const range = (name: string, cidr: string) => ({ kind: "ServiceCIDR", apiVersion: "networking.k8s.io/v1", metadata: { name }, spec: { cidrs: [cidr] } });
  const asked = service("a", { clusterIP: "192.0.2.3" });
  equal((await ask(cluster, "POST", services, asked)).status, 422);
  equal((await ask(cluster, "POST", cidrs, range("second", "192.0.2.0/29"))).status, 201);
  equal((await ask(cluster, "POST", services, asked)).status, 201);
  equal((await ask(cluster, "POST", services, service("b", { clusterIP: "192.0.2.3" }))).status, 422);
  ok((await addressNames(cluster)).includes("192.0.2.3"));
  const status = { status: { conditions: [{ type: "Ready", status: "False", reason: "R", message: "", lastTransitionTime: "2024-01-01T00:00:00Z" }] } };
  equal((await ask(cluster, "PATCH", `${cidrs}/second/status`, status, { "content-type": "application/merge-patch+json" })).status, 200);
  equal((await ask(cluster, "POST", services, service("c", { clusterIP: "192.0.2.4" }))).status, 422);
});

test("services: a dry run asks only whether the address is of a range, and whether the port is taken", async () => {
  await using cluster = await TestCluster.start();
  const dryRun = `${services}?dryRun=All`;
  await ask(cluster, "POST", services, service("taken", { clusterIP: "10.0.5.5", type: "NodePort", ports: [{ port: 80, nodePort: 30_123 }] }));
  equal((await ask(cluster, "POST", dryRun, service("a", { clusterIP: "10.0.5.5" }))).status, 201);
  match(
    (await ask(cluster, "POST", dryRun, service("a", { clusterIP: "192.0.2.1" }))).text,
    /the provided IP \(192\.0\.2\.1\) is not in the valid range\. The range of valid IPs is 10\.0\.0\.0\/\d+/,
  );
  equal((await ask(cluster, "POST", dryRun, service("a", { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] }))).status, 201);
  equal((await ask(cluster, "POST", dryRun, service("a", { type: "NodePort", ports: [{ port: 80, nodePort: 30_123 }] }))).status, 422);
});
