import { test } from "node:test";
import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { silentLog } from "../../base/log.ts";
import { seededRandom } from "../../base/random.ts";
import { loopTurn, VirtualClock } from "../../base/virtual-clock.ts";
import { expiredError, StatusError } from "../../apimachinery/status.ts";
import { ScriptedStream, scriptedHandler } from "../../testing/scripted-handler.ts";
import { Client } from "../client.ts";
import { InformerSet } from "./informer-set.ts";
import { loopbackTransport } from "../transports/loopback-transport.ts";
import { resources } from "../resources.ts";
import type { ScriptedAnswer } from "../../testing/scripted-handler.ts";

const pod = (name: string, resourceVersion: string, extra: object = {}) => ({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { namespace: "a", name, uid: `uid-${name}`, resourceVersion, managedFields: [{}], ...extra },
});
const event = (type: string, object: unknown) => ({ type, object });
const initialEnd = (resourceVersion: string) =>
  event("BOOKMARK", { kind: "Pod", metadata: { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } } });
const bookmark = (resourceVersion: string) => event("BOOKMARK", { kind: "Pod", metadata: { resourceVersion } });
const expired = event("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old resource version: 5 (9)" });
const invalid = new StatusError({ reason: "Invalid", code: 422, message: "sendInitialEvents is forbidden" });

function start(...script: ScriptedAnswer[]) {
  const clock = new VirtualClock();
  const { handler, requests } = scriptedHandler(script);
  const client = new Client({ transport: loopbackTransport(handler, { username: "test", groups: [] }), clock, userAgent: "test" });
  const informers = new InformerSet({ client, clock, random: seededRandom(1), log: silentLog });
  const informer = informers.get(resources.pods);
  const seen: string[] = [];
  informer.subscribe((change) =>
    seen.push(
      `${change.kind} ${change.object.metadata.name}@${change.object.metadata.resourceVersion}${change.old === undefined ? "" : ` was ${change.old.metadata.resourceVersion}`}`,
    ),
  );
  const asked = () =>
    requests.map((request) =>
      request
        .replace("GET /api/v1/pods?", "")
        .replace(/&?timeoutSeconds=\d+/, "")
        .replace("&allowWatchBookmarks=true", ""),
    );
  return { clock, informers, informer, seen, asked, client };
}

const stateThen = (...later: unknown[]) => new ScriptedStream(event("ADDED", pod("x", "3")), event("ADDED", pod("y", "4")), initialEnd("5"), ...later);

test("informer: the state streams in, then changes", async () => {
  const stream = stateThen();
  const { informers, informer, seen } = start(stream);
  equal(informer.hasSynced, false);
  await informer.synced();
  deepEqual(seen, ["add x@3", "add y@4"]);
  stream.push(event("MODIFIED", pod("x", "6")), event("DELETED", pod("y", "7")), event("ADDED", pod("z", "8")));
  await informer.waitFor("8");
  deepEqual(seen.slice(2), ["update x@6 was 3", "delete y@7", "add z@8"]);
  deepEqual(
    informer.list("a").map(({ metadata }) => metadata.name),
    ["x", "z"],
  );
  equal(informer.get("a", "x")!.metadata.managedFields, undefined);
  throws(() => ((informer.get("a", "x")!.metadata as { name: string }).name = "other"), TypeError);
  await informers.close();
});

test("informer: where streaming lists are refused it lists page by page", async () => {
  const page = (items: unknown[], metadata: object) => ({ kind: "PodList", metadata, items });
  const { informers, informer, asked } = start(
    invalid,
    page([pod("x", "3")], { resourceVersion: "5", continue: "more" }),
    page([pod("y", "4")], { resourceVersion: "5" }),
  );
  await informer.synced();
  await loopTurn();
  deepEqual(asked(), [
    "resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true",
    "limit=500",
    "continue=more&limit=500",
    "resourceVersion=5&watch=true",
  ]);
  equal(informer.size, 2);
  await informers.close();
});

test("informer: a watch that ends is opened again from the newest version, bookmarks included", async () => {
  const { informers, informer, asked } = start(
    stateThen(event("MODIFIED", pod("x", "7")), bookmark("12")).end(),
    new ScriptedStream(event("ADDED", pod("z", "13"))),
  );
  await informer.waitFor("13");
  deepEqual(asked().slice(1), ["resourceVersion=12&watch=true"]);
  await informers.close();
});

test("informer: a version that is too old leads to a new list, and handlers see the difference", async () => {
  const { informers, informer, seen, asked } = start(
    stateThen(event("MODIFIED", pod("x", "6")), expired),
    new ScriptedStream(event("ADDED", pod("y", "9")), event("ADDED", pod("z", "8")), initialEnd("10")),
  );
  await informer.waitFor("10");
  deepEqual(seen, ["add x@3", "add y@4", "update x@6 was 3", "update y@9 was 4", "add z@8", "delete x@6"]);
  equal(asked().filter((query) => query.includes("sendInitialEvents")).length, 2);
  await informers.close();
});

test("informer: an object that was replaced while nobody looked is deleted and added", async () => {
  const { informers, informer, seen } = start(
    stateThen().end(),
    expiredError("gone"),
    new ScriptedStream(event("ADDED", pod("x", "9", { uid: "other" })), event("ADDED", pod("y", "4")), initialEnd("10")),
  );
  await informer.waitFor("10");
  deepEqual(seen.slice(2), ["delete x@3", "add x@9"]);
  await informers.close();
});

test("informer: failures are tried again with growing pauses", async () => {
  const { clock, informers, informer, asked } = start(new Error("connection refused"), new Error("connection refused"), stateThen());
  await loopTurn();
  equal(asked().length, 1);
  await clock.advance(1_200);
  equal(asked().length, 2);
  equal(informer.hasSynced, false);
  await clock.advance(2_400);
  equal(informer.hasSynced, true);
  await informers.close();
  equal(clock.nextDueMs(), undefined);
});

test("informer: watches that end at once do not make a tight loop", async () => {
  const { clock, informers, informer, asked } = start(stateThen().end(), new ScriptedStream().end(), new ScriptedStream().end(), new ScriptedStream());
  await informer.synced();
  await loopTurn();
  equal(asked().length, 2);
  await clock.advance(5_000);
  equal(asked().length, 4);
  await informers.close();
});

test("informer: indexes follow their objects", async () => {
  const stream = new ScriptedStream(event("ADDED", pod("x", "3", { labels: { app: "web" } })), initialEnd("5"));
  const { informers, informer } = start(stream);
  informer.addIndex("app", (object) => (object.metadata.labels?.["app"] === undefined ? [] : [object.metadata.labels["app"]]));
  await informer.synced();
  const names = (key: string) => informer.byIndex("app", key).map(({ metadata }) => metadata.name);
  deepEqual(names("web"), ["x"]);
  stream.push(event("MODIFIED", pod("x", "6", { labels: { app: "db" } })), event("ADDED", pod("y", "7", { labels: { app: "db" } })));
  await informer.waitFor("7");
  deepEqual([names("web"), names("db")], [[], ["x", "y"]]);
  stream.push(event("DELETED", pod("x", "8", { labels: { app: "db" } })));
  await informer.waitFor("8");
  deepEqual(names("db"), ["y"]);
  await informers.close();
});

test("informer: who waits for a version that was lost is let go", async () => {
  const stream = stateThen();
  const { informers, informer } = start(stream, new ScriptedStream(initialEnd("2")));
  await informer.synced();
  const waited = informer.waitFor("900");
  equal(informer.hasSeen("900"), false);
  stream.push(expired);
  await waited;
  equal(informer.resourceVersion, "2");
  await informers.close();
});

test("informer set: one informer per resource and selection; a borrowed one stops when it is given back", async () => {
  const clock = new VirtualClock();
  const { handler, requests } = scriptedHandler([]);
  const client = new Client({ transport: loopbackTransport(handler, { username: "test", groups: [] }), clock, userAgent: "test" });
  const informers = new InformerSet({ client, clock, random: seededRandom(1), log: silentLog });
  const first = informers.borrow(resources.pods);
  const second = informers.borrow(resources.pods);
  ok(first.informer === second.informer);
  ok(informers.get(resources.pods, { labelSelector: "app=web" }) !== first.informer);
  await loopTurn();
  equal(requests.length, 2);
  first.release();
  first.release();
  ok(informers.borrow(resources.pods).informer === second.informer);
  second.release();
  await informers.close();
  await rejects(first.informer.synced(AbortSignal.abort(new Error("over"))), /over/);
});
