import { test } from "node:test";
import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ask } from "../../testing/ask.ts";
import type { Answer } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const configMap = (metadata: object, data?: object) => ({ kind: "ConfigMap", apiVersion: "v1", metadata, ...(data !== undefined && { data }) });
const merge = { "content-type": "application/merge-patch+json" };
const apply = { "content-type": "application/apply-patch+yaml" };
const objectOf = (answer: Answer) => answer.json as unknown as KubeObject & { data?: Record<string, string> };
const deployment = (replicas: number) => ({
  kind: "Deployment",
  apiVersion: "apps/v1",
  metadata: { name: "web" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
});

test("update: preconditions and what a client may not change", async () => {
  await using cluster = await TestCluster.start();
  const first = objectOf(await ask(cluster, "POST", configMaps, configMap({ name: "a" }, { k: "1" })));
  const second = await ask(cluster, "PUT", `${configMaps}/a`, { ...first, data: { k: "2" } });
  equal(second.status, 200);
  const { uid, resourceVersion, creationTimestamp } = first.metadata;
  deepEqual([objectOf(second).metadata.uid, objectOf(second).metadata.creationTimestamp], [uid, creationTimestamp]);
  notEqual(objectOf(second).metadata.resourceVersion, resourceVersion);
  const table: [name: string, body: object, status: number, message: RegExp][] = [
    [
      "a",
      { ...first, data: { k: "3" } },
      409,
      /^Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again$/,
    ],
    ["a", configMap({ name: "a", uid: "other" }), 409, /Precondition failed: UID in precondition: other, UID in object meta: /],
    ["a", configMap({ name: "b" }), 400, /^the name of the object \(b\) does not match the name on the URL \(a\)$/],
    ["a", configMap({}), 400, /name must be provided$/],
    ["a", configMap({ name: "a", namespace: "other" }), 400, /namespace/],
    ["a", configMap({ name: "a", resourceVersion: "x" }), 500, /^strconv\.ParseUint: parsing "x": invalid syntax$/],
    ["b", configMap({ name: "b" }), 404, /^configmaps "b" not found$/],
  ];
  for (const [name, body, status, message] of table) {
    const answer = await ask(cluster, "PUT", `${configMaps}/${name}`, body);
    equal(answer.status, status, answer.text);
    match(answer.json["message"] as string, message);
  }
  equal((await ask(cluster, "GET", `${configMaps}/a`)).text, second.text);
  const unconditional = await ask(cluster, "PUT", `${configMaps}/a`, configMap({ name: "a", creationTimestamp: "2001-01-01T00:00:00Z" }, { k: "4" }));
  deepEqual([unconditional.status, objectOf(unconditional).metadata.creationTimestamp], [200, creationTimestamp]);
});

test("update: what changes nothing writes nothing", async () => {
  await using cluster = await TestCluster.start();
  const first = await ask(cluster, "POST", configMaps, configMap({ name: "a" }, { k: "1" }));
  equal((await ask(cluster, "PUT", `${configMaps}/a`, objectOf(first))).text, first.text);
  equal((await ask(cluster, "PATCH", `${configMaps}/a`, { data: { k: "1" } }, merge)).text, first.text);
});

test("update: generation moves with the wish, status with its own path", async () => {
  await using cluster = await TestCluster.start();
  const generations: (number | undefined)[] = [];
  const note = (answer: Answer) => generations.push(objectOf(answer).metadata.generation);
  note(await ask(cluster, "POST", deployments, deployment(1)));
  note(await ask(cluster, "PATCH", `${deployments}/web`, { spec: { replicas: 2 } }, merge));
  note(await ask(cluster, "PATCH", `${deployments}/web`, { metadata: { labels: { a: "b" } } }, merge));
  const status = await ask(cluster, "PATCH", `${deployments}/web/status`, { spec: { replicas: 9 }, status: { replicas: 5 } }, merge);
  note(status);
  const { spec, status: shown } = status.json as { spec: { replicas: number }; status: { replicas: number } };
  deepEqual([spec.replicas, shown.replicas], [2, 5]);
  const main = await ask(cluster, "PATCH", `${deployments}/web`, { status: { replicas: 7 } }, merge);
  note(main);
  equal((main.json as { status: { replicas: number } }).status.replicas, 5);
  deepEqual(generations, [1, 2, 2, 2, 2]);
});

test("update: of many writers at once none loses anything", async () => {
  await using cluster = await TestCluster.start();
  await ask(cluster, "POST", configMaps, configMap({ name: "a" }, {}));
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) => {
      const key = `k${index}`;
      if (index % 3 === 0) return ask(cluster, "PATCH", `${configMaps}/a`, { data: { [key]: "v" } }, merge);
      if (index % 3 === 1)
        return ask(cluster, "PATCH", `${configMaps}/a`, { data: { [key]: "v" } }, { "content-type": "application/strategic-merge-patch+json" });
      return ask(cluster, "PATCH", `${configMaps}/a?fieldManager=m${index}`, configMap({ name: "a" }, { [key]: "v" }), apply);
    }),
  );
  deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  );
  equal(Object.keys(objectOf(await ask(cluster, "GET", `${configMaps}/a`)).data!).length, 30);
  equal(new Set(answers.map((answer) => objectOf(answer).metadata.resourceVersion)).size, 30);
});

test("update: of many that name one version, one wins", async () => {
  await using cluster = await TestCluster.start();
  const first = objectOf(await ask(cluster, "POST", configMaps, configMap({ name: "a" }, {})));
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => ask(cluster, "PUT", `${configMaps}/a`, { ...first, data: { by: String(index) } })),
  );
  deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 19 }, () => 409)]);
});

test("patch: forms and refusals", async () => {
  await using cluster = await TestCluster.start();
  const path = `${configMaps}/a`;
  const json = { "content-type": "application/json-patch+json" };
  await ask(cluster, "POST", configMaps, configMap({ name: "a" }, { k: "1", l: "2" }));
  const table: [body: unknown, headers: Record<string, string>, status: number, expected: Record<string, string> | RegExp][] = [
    [{ data: { k: null, m: "3" } }, merge, 200, { l: "2", m: "3" }],
    [
      [
        { op: "add", path: "/data/n", value: "4" },
        { op: "remove", path: "/data/l" },
      ],
      json,
      200,
      { m: "3", n: "4" },
    ],
    [[{ op: "test", path: "/data/n", value: "5" }], json, 422, /the server rejected our request due to an error in our request/],
    [[{ op: "remove", path: "/data/none" }], json, 422, /the server rejected our request due to an error in our request/],
    [{ metadata: { name: "b" } }, merge, 400, /the name of the object \(b\) does not match the name on the URL \(a\)/],
    [{ metadata: { resourceVersion: "1" } }, merge, 409, /the object has been modified/],
    [{ metadata: { uid: "x" } }, merge, 422, /metadata\.uid: Invalid value: "x": field is immutable/],
    [{}, { "content-type": "application/json" }, 415, /^415: Unsupported Media Type$/],
    ["{", merge, 400, /./],
    ["[]", merge, 400, /./],
  ];
  for (const [body, headers, status, expected] of table) {
    const answer = await ask(cluster, "PATCH", path, body, headers);
    equal(answer.status, status, `${JSON.stringify(body)} ${answer.text}`);
    if (expected instanceof RegExp) match(answer.json["message"] as string, expected, JSON.stringify(body));
    else deepEqual(objectOf(answer).data, expected);
  }
  equal((await ask(cluster, "PATCH", `${configMaps}/none`, {}, merge)).status, 404);
  const dry = await ask(cluster, "PATCH", `${path}?dryRun=All`, { data: { z: "9" } }, merge);
  deepEqual(objectOf(dry).data, { m: "3", n: "4", z: "9" });
  deepEqual(objectOf(await ask(cluster, "GET", path)).data, { m: "3", n: "4" });
});

test("apply: creates, owns, conflicts, is forced, gives up", async () => {
  await using cluster = await TestCluster.start();
  const path = `${configMaps}/a`;
  const applied = (manager: string, data: object, query = "") =>
    ask(cluster, "PATCH", `${path}?fieldManager=${manager}${query}`, configMap({ name: "a" }, data), apply);
  equal((await applied("one", { k: "1", l: "1" })).status, 201);
  equal((await applied("two", { m: "2" })).status, 200);
  const conflict = await applied("two", { k: "2", m: "2" });
  equal(conflict.status, 409);
  match(conflict.json["message"] as string, /conflict with "one": \.data\.k/);
  const forced = await applied("two", { k: "2", m: "2" }, "&force=true");
  deepEqual(objectOf(forced).data, { k: "2", l: "1", m: "2" });
  deepEqual(objectOf(await applied("one", {})).data, { k: "2", m: "2" });
  deepEqual((await ask(cluster, "PATCH", path, configMap({ name: "a" }, {}), apply)).status, 422);
});
