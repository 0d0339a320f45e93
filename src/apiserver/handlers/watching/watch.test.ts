import { test } from "node:test";
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { typeRegistry } from "../../../api/registry.ts";
import { decodeProtobuf } from "../../../apimachinery/protobuf/envelope.ts";
import { FieldCursor } from "../../../apimachinery/protobuf/wire.ts";
import type { Store } from "../../../storage/index.ts";
import { ask, openWatch, told } from "../../../testing/ask.ts";
import { TestCluster } from "../../../testing/cluster.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string, labels: Record<string, string> = {}) => ({ kind: "ConfigMap", apiVersion: "v1", metadata: { name, labels } });
const merge = { "content-type": "application/merge-patch+json" };
const create = (cluster: TestCluster, name: string, labels?: Record<string, string>) => ask(cluster, "POST", configMaps, configMap(name, labels));
const label = (cluster: TestCluster, name: string, labels: object) => ask(cluster, "PATCH", `${configMaps}/${name}`, { metadata: { labels } }, merge);
const versionOf = async (cluster: TestCluster) => ((await ask(cluster, "GET", configMaps)).json["metadata"] as { resourceVersion: string }).resourceVersion;

test("watch: the present state, then every change, each under its own version", async () => {
  await using cluster = await TestCluster.start();
  await create(cluster, "a");
  const watch = await openWatch(cluster, `${configMaps}?watch=true`);
  await cluster.turn();
  await create(cluster, "b");
  await label(cluster, "a", { x: "1" });
  await ask(cluster, "DELETE", `${configMaps}/b`);
  await cluster.turn();
  deepEqual(told(watch.events), ["ADDED a", "ADDED b", "MODIFIED a", "DELETED b"]);
  const versions = watch.events.map(({ object }) => Number(object.metadata.resourceVersion));
  deepEqual(
    versions,
    versions.toSorted((a, b) => a - b),
  );
  equal(new Set(versions).size, 4);
  watch.stop();
  await watch.ended;
});

test("watch: goes on where another ended, without gap or doubles", async () => {
  await using cluster = await TestCluster.start();
  const first = await openWatch(cluster, `${configMaps}?watch=true`);
  await cluster.turn();
  await create(cluster, "a");
  await create(cluster, "b");
  await cluster.turn();
  first.stop();
  await first.ended;
  const seen = first.events.at(-1)!.object.metadata.resourceVersion!;
  await create(cluster, "c");
  const second = await openWatch(cluster, `${configMaps}?watch=true&resourceVersion=${seen}`);
  await cluster.turn();
  await create(cluster, "d");
  await cluster.turn();
  deepEqual(told(second.events), ["ADDED c", "ADDED d"]);
  second.stop();
  await second.ended;
});

test("watch: many at once, from each version on, see the same in the same order", async () => {
  await using cluster = await TestCluster.start();
  const whole = await openWatch(cluster, `${configMaps}?watch=true`);
  await cluster.turn();
  const writes = Promise.all(
    ["a", "b", "c", "d", "e"].map(async (name) => {
      await create(cluster, name);
      await label(cluster, name, { x: "1" });
      await ask(cluster, "DELETE", `${configMaps}/${name}`);
    }),
  );
  const early = await Promise.all([1, 2, 3].map(() => openWatch(cluster, `${configMaps}?watch=true&resourceVersion=1`)));
  await writes;
  await cluster.turn();
  const shown = (events: typeof whole.events) => events.map(({ type, object }) => `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`);
  const all = shown(whole.events);
  equal(all.length, 15);
  for (const { events } of early) deepEqual(shown(events), all);
  const late = await Promise.all(
    whole.events.map(({ object }) => openWatch(cluster, `${configMaps}?watch=true&resourceVersion=${object.metadata.resourceVersion}`)),
  );
  await cluster.turn();
  for (const [index, { events }] of late.entries()) deepEqual(shown(events), all.slice(index + 1));
  for (const watch of [whole, ...early, ...late]) {
    watch.stop();
    await watch.ended;
  }
});

test("watch: objects come into a selection and leave it", async () => {
  await using cluster = await TestCluster.start();
  const watch = await openWatch(cluster, `${configMaps}?watch=true&labelSelector=in%3Dyes`);
  await cluster.turn();
  await create(cluster, "a");
  await label(cluster, "a", { in: "yes" });
  await label(cluster, "a", { other: "1" });
  await label(cluster, "a", { in: "no" });
  await label(cluster, "a", { other: "2" });
  await label(cluster, "a", { in: "yes" });
  await ask(cluster, "DELETE", `${configMaps}/a`);
  await cluster.turn();
  deepEqual(told(watch.events), ["ADDED a", "MODIFIED a", "DELETED a", "ADDED a", "DELETED a"]);
  // What left is shown as it was when it was last in view.
  deepEqual(watch.events[2]!.object.metadata.labels, { in: "yes", other: "1" });
  watch.stop();
  await watch.ended;
});

test("watch: initial events end with a bookmark, others come every minute", async () => {
  await using cluster = await TestCluster.start();
  await create(cluster, "a");
  const watch = await openWatch(cluster, `${configMaps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`);
  const plain = await openWatch(cluster, `${configMaps}?watch=true`);
  await cluster.turn();
  deepEqual(told(watch.events), ["ADDED a", "BOOKMARK"]);
  deepEqual(watch.events[1]!.object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
  await cluster.advance(60_000);
  deepEqual(told(watch.events), ["ADDED a", "BOOKMARK", "BOOKMARK"]);
  equal(watch.events[2]!.object.metadata.annotations, undefined);
  equal(watch.events[2]!.object.metadata.resourceVersion, await versionOf(cluster));
  deepEqual(told(plain.events), ["ADDED a"]);
  for (const each of [watch, plain]) each.stop();
  await Promise.all([watch.ended, plain.ended]);
});

test("watch: ends when its time is over, and when the server stops", async () => {
  const cluster = await TestCluster.start();
  const short = await openWatch(cluster, `${configMaps}?watch=true&timeoutSeconds=5`);
  const long = await openWatch(cluster, `${configMaps}?watch=true`);
  await cluster.advance(4999);
  equal(short.isEnded, false);
  await cluster.advance(1);
  deepEqual([short.isEnded, long.isEnded], [true, false]);
  await cluster.close();
  await long.ended;
  deepEqual(told(long.events), []);
});

test("watch: refusals", async () => {
  await using cluster = await TestCluster.start();
  const table: [query: string, status: number, message: RegExp][] = [
    ["resourceVersion=x", 500, /strconv\.ParseUint: parsing "x": invalid syntax/],
    ["sendInitialEvents=true", 422, /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/],
    ["continue=x", 422, /resourceVersionMatch is forbidden when continue is provided/],
    ["timeoutSeconds=x", 400, /strconv\.ParseInt/],
    ["labelSelector=%3D", 400, /./],
  ];
  for (const [query, status, message] of table) {
    const answer = await ask(cluster, "GET", `${configMaps}?watch=true&${query}`);
    equal(answer.status, status, query);
    match(answer.json["message"] as string, message);
  }
});

test("watch: forgotten history is told, and a reader that is too slow loses its watch", async () => {
  let store: Store | undefined;
  await using cluster = await TestCluster.start({ wrapStore: (inner) => (store = inner) });
  await create(cluster, "a");
  const old = await versionOf(cluster);
  const page = await ask(cluster, "GET", "/api/v1/namespaces?limit=1");
  await create(cluster, "b");
  const configMapPage = (await ask(cluster, "GET", `${configMaps}?limit=1`)).json["metadata"] as { continue: string };
  const leaving = new AbortController();
  const response = await cluster.client.send(
    { method: "GET", path: configMaps, query: `watch=true&resourceVersion=${await versionOf(cluster)}`, headers: {}, body: new Uint8Array() },
    { signal: leaving.signal },
  );
  ok(response.body.kind === "stream");
  const reader = response.body.chunks[Symbol.asyncIterator]();
  const firstRead = reader.next();
  await cluster.turn();
  const bytes = Buffer.from(JSON.stringify({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "z", namespace: "default", uid: "u" } }));
  let expected = 0;
  const count = 15_002;
  for (let index = 0; index < count; index++)
    expected = (await store!.commit({ kind: "put", key: "/registry/configmaps/default/z", value: bytes, expected })).revision;
  await cluster.turn();
  // The slow reader gets what was kept for it, then the end.
  let frames =
    Buffer.from((await firstRead).value as Uint8Array)
      .toString()
      .split("\n").length - 1;
  for (let next = await reader.next(); next.done !== true; next = await reader.next()) frames += Buffer.from(next.value).toString().split("\n").length - 1;
  ok(frames < count, String(frames));
  const late = await openWatch(cluster, `${configMaps}?watch=true&resourceVersion=${old}`);
  await late.ended;
  deepEqual(told(late.events), ["ERROR 410"]);
  match(late.events[0]!.object.message!, /^too old resource version: \d+ \(\d+\)$/);
  const exact = await ask(cluster, "GET", `${configMaps}?resourceVersion=${old}&resourceVersionMatch=Exact`);
  deepEqual([exact.status, exact.json["reason"]], [410, "Expired"]);
  const paged = await ask(cluster, "GET", `${configMaps}?limit=1&continue=${configMapPage.continue}`);
  equal(paged.status, 410);
  const again = (paged.json["metadata"] as { continue: string }).continue;
  const rest = await ask(cluster, "GET", `${configMaps}?limit=5&continue=${again}`);
  deepEqual([rest.status, (rest.json["items"] as unknown as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)], [200, ["b", "z"]]);
  // Other resources keep their own history.
  equal((await ask(cluster, "GET", `/api/v1/namespaces?limit=1&continue=${(page.json["metadata"] as { continue: string }).continue}`)).status, 200);
});

test("watch: in protobuf, each frame is its length and then an event whose object has an envelope", async () => {
  await using cluster = await TestCluster.start();
  await create(cluster, "a");
  const headers = { accept: "application/vnd.kubernetes.protobuf;stream=watch" };
  const { headers: answered, body } = await cluster.client.send({ method: "GET", path: configMaps, query: "watch=true", headers, body: new Uint8Array() });
  equal(answered["content-type"], "application/vnd.kubernetes.protobuf;stream=watch");
  ok(body.kind === "stream");
  await create(cluster, "b");
  await create(cluster, "c");
  const seen: string[] = [];
  for await (const chunk of body.chunks) {
    seen.push(...eventsInProtobuf(Buffer.from(chunk)));
    if (seen.length >= 3) break;
  }
  deepEqual(seen, ["ADDED v1 ConfigMap a", "ADDED v1 ConfigMap b", "ADDED v1 ConfigMap c"]);
});

function eventsInProtobuf(bytes: Buffer): string[] {
  const events: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32BE(at);
    const event = new FieldCursor(bytes.subarray(at + 4, end));
    ok(event.next());
    const type = event.text;
    ok(event.next());
    const raw = event.message();
    ok(raw.next());
    const { apiVersion, kind, object: configMap } = decodeProtobuf(raw.bytes, typeRegistry);
    events.push(`${type} ${apiVersion} ${kind} ${(configMap["metadata"] as { name: string }).name}`);
    at = end;
  }
  return events;
}
