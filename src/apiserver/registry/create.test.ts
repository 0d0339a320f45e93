import { test } from "node:test";
import { deepEqual, equal, match } from "node:assert/strict";
import type { ObjectMeta } from "../../apimachinery/object.ts";
import { ask } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = (metadata: object, data?: object) => ({ kind: "ConfigMap", apiVersion: "v1", metadata, ...(data !== undefined && { data }) });
const metadataOf = (answer: { json: object }) => (answer.json as { metadata: ObjectMeta }).metadata;

test("create: the server decides what is the server's", async () => {
  await using cluster = await TestCluster.start();
  const given = {
    name: "a",
    uid: "mine",
    creationTimestamp: "2001-01-01T00:00:00Z",
    deletionTimestamp: "2001-01-01T00:00:00Z",
    deletionGracePeriodSeconds: 3,
    generation: 7,
    selfLink: "/x",
    labels: { l: "1" },
  };
  const answer = await ask(cluster, "POST", configMaps, configMap(given, { k: "v" }));
  equal(answer.status, 201);
  const { uid, resourceVersion, creationTimestamp, managedFields, ...rest } = metadataOf(answer);
  match(uid!, /^[0-9a-f-]{36}$/);
  match(resourceVersion!, /^\d+$/);
  equal(creationTimestamp, "2026-01-01T00:00:00Z");
  equal(managedFields?.length, 1);
  deepEqual(rest, { name: "a", namespace: "default", generation: 7, labels: { l: "1" } });
  deepEqual((await ask(cluster, "GET", `${configMaps}/a`)).text, answer.text);
});

test("create: refusals", async () => {
  await using cluster = await TestCluster.start();
  await ask(cluster, "POST", configMaps, configMap({ name: "taken" }));
  await ask(cluster, "POST", configMaps, configMap({ name: "leaving", finalizers: ["example.com/x"] }));
  await ask(cluster, "DELETE", `${configMaps}/leaving`);
  const table: [target: string, body: unknown, status: number, message: RegExp][] = [
    [configMaps, configMap({ name: "taken" }), 409, /^configmaps "taken" already exists$/],
    [configMaps, configMap({ name: "leaving" }), 409, /^object is being deleted: configmaps "leaving" already exists$/],
    [configMaps, configMap({ name: "a", resourceVersion: "5" }), 500, /^resourceVersion should not be set on objects to be created$/],
    [configMaps, configMap({ name: "A", resourceVersion: "5" }), 422, /metadata\.name: Invalid value: "A": /],
    [`${configMaps}?dryRun=All`, configMap({ name: "taken", resourceVersion: "5" }), 409, /already exists$/],
    [configMaps, configMap({ name: "a", namespace: "other" }), 400, /^the namespace of the provided object does not match the namespace sent on the request$/],
    [configMaps, configMap({ name: "A" }), 422, /^ConfigMap "A" is invalid: metadata\.name: Invalid value: "A": /],
    [configMaps, configMap({}), 422, /metadata\.name: Required value: name or generateName is required/],
    ["/api/v1/namespaces/nowhere/configmaps", configMap({ name: "a" }), 404, /^namespaces "nowhere" not found$/],
    [configMaps, { kind: "Secret", apiVersion: "v1", metadata: { name: "a" } }, 400, /Secret/],
    [configMaps, "{", 400, /./],
    [configMaps, "", 400, /./],
    [configMaps, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"${"x".repeat(3 * 1024 * 1024)}"}}`, 413, /too large/i],
    [`${configMaps}?fieldValidation=Strict`, { ...configMap({ name: "a" }), dta: {} }, 400, /unknown field "dta"/],
    [`${configMaps}?dryRun=Some`, configMap({ name: "a" }), 422, /dryRun/],
  ];
  for (const [target, body, status, message] of table) {
    const answer = await ask(cluster, "POST", target, body);
    equal(answer.status, status, `${target} ${answer.text.slice(0, 300)}`);
    equal(answer.json["code"], status);
    match(answer.json["message"] as string, message);
  }
  equal((await ask(cluster, "GET", `${configMaps}/a`)).status, 404);
});

test("create: a dry run leaves nothing", async () => {
  await using cluster = await TestCluster.start();
  const answer = await ask(cluster, "POST", `${configMaps}?dryRun=All`, configMap({ name: "a" }));
  equal(answer.status, 201);
  equal(metadataOf(answer).resourceVersion, undefined);
  match(metadataOf(answer).uid!, /./);
  equal((await ask(cluster, "GET", `${configMaps}/a`)).status, 404);
  equal((await ask(cluster, "POST", configMaps, configMap({ name: "a" }))).status, 201);
  equal((await ask(cluster, "POST", `${configMaps}?dryRun=All`, configMap({ name: "a" }))).status, 409);
  // What stands in the way of storing alone is no fault of a dry run.
  equal(metadataOf(await ask(cluster, "POST", `${configMaps}?dryRun=All`, configMap({ name: "b", resourceVersion: "5" }))).resourceVersion, "5");
});

test("create: generated names", async () => {
  await using cluster = await TestCluster.start();
  const answers = await Promise.all(Array.from({ length: 30 }, () => ask(cluster, "POST", configMaps, configMap({ generateName: "x-" }))));
  deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
  const names = answers.map((answer) => metadataOf(answer).name!);
  equal(new Set(names).size, 30);
  for (const name of names) match(name, /^x-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  const long = metadataOf(await ask(cluster, "POST", configMaps, configMap({ generateName: "y".repeat(70) })));
  equal(long.name!.length, 63);
  equal(metadataOf(await ask(cluster, "POST", configMaps, configMap({ name: "given", generateName: "x-" }))).name, "given");
  const taken = await ask(cluster, "POST", configMaps, configMap({ name: "given", generateName: "x-" }));
  deepEqual([taken.status, taken.headers["retry-after"]], [409, "1"]);
});

test("create: of many that want one name, one gets it", async () => {
  await using cluster = await TestCluster.start();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => ask(cluster, "POST", configMaps, configMap({ name: "one" }, { by: String(index) }))),
  );
  const [winner, ...others] = answers.toSorted((a, b) => a.status - b.status);
  equal(winner!.status, 201);
  deepEqual(
    others.map(({ status }) => status),
    others.map(() => 409),
  );
  equal((await ask(cluster, "GET", `${configMaps}/one`)).text, winner!.text);
});
