import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { silentLog } from "../../base/log.ts";
import { seededRandom } from "../../base/random.ts";
import { loopTurn, VirtualClock } from "../../base/virtual-clock.ts";
import { ScriptedStream, scriptedHandler } from "../../testing/scripted-handler.ts";
import { Client } from "../client.ts";
import { InformerSet } from "./informer-set.ts";
import { loopbackTransport } from "../transports/loopback-transport.ts";
import { compareResourceVersions } from "./resource-version.ts";
import { resources } from "../resources.ts";
import { WriteTracker } from "./write-tracker.ts";

const pod = (name: string, resourceVersion: string, extra: object = {}) => ({
  metadata: { namespace: "a", name, uid: `uid-${name}`, resourceVersion, ...extra },
});

async function start(onUntold?: (key: string) => void) {
  const clock = new VirtualClock();
  const stream = new ScriptedStream(
    { type: "ADDED", object: pod("x", "3") },
    { type: "BOOKMARK", object: { metadata: { resourceVersion: "9", annotations: { "k8s.io/initial-events-end": "true" } } } },
  );
  const again = new ScriptedStream({ type: "BOOKMARK", object: { metadata: { resourceVersion: "30", annotations: { "k8s.io/initial-events-end": "true" } } } });
  const client = new Client({
    transport: loopbackTransport(scriptedHandler([stream, again]).handler, { username: "test", groups: [] }),
    clock,
    userAgent: "test",
  });
  const informers = new InformerSet({ client, clock, random: seededRandom(1), log: silentLog });
  const informer = informers.get(resources.pods);
  await informer.synced();
  return { stream, informers, informer, tracker: new WriteTracker(onUntold) };
}

test("writes: a key is behind until the newest of its writes has been seen", async () => {
  const { stream, informers, informer, tracker } = await start();
  let calls = 0;
  tracker.noteWrite("k", informer, "9");
  equal(tracker.isCaughtUp("k"), true);
  tracker.noteWrite("k", informer, "10");
  tracker.noteWrite("k", informer, "12");
  tracker.onceCaughtUp("k", () => calls++);
  stream.push({ type: "ADDED", object: pod("y", "10") });
  await loopTurn();
  deepEqual([tracker.isCaughtUp("k"), tracker.isCaughtUp("other"), calls], [false, true, 0]);
  stream.push({ type: "ADDED", object: pod("z", "12") });
  await loopTurn();
  deepEqual([tracker.isCaughtUp("k"), calls], [true, 1]);
  await informers.close();
});

test("writes: one that a list has shown may be undone already, so its key is told of; one that was followed is not", async () => {
  const untold: string[] = [];
  const { stream, informers, informer, tracker } = await start((key) => untold.push(key));
  tracker.noteWrite("followed", informer, "10");
  tracker.noteWrite("listed", informer, "20");
  stream.push({ type: "ADDED", object: pod("y", "10") }, { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "gone" } });
  await informer.waitFor("30");
  deepEqual([untold, tracker.isCaughtUp("listed")], [["listed"], true]);
  await informers.close();
});

const endings: [name: string, event: object][] = [
  ["it is gone", { type: "DELETED", object: pod("x", "11") }],
  ["it is being deleted", { type: "MODIFIED", object: pod("x", "11", { deletionTimestamp: "2026-01-01T00:00:00Z" }) }],
  ["another has its name", { type: "MODIFIED", object: pod("x", "11", { uid: "other" }) }],
];
for (const [name, event] of endings) {
  test(`writes: a deletion has been seen when ${name}`, async () => {
    const { stream, informers, informer, tracker } = await start();
    tracker.noteDelete("k", informer, { namespace: "a", name: "x", uid: "uid-x" });
    stream.push({ type: "MODIFIED", object: pod("x", "10") });
    await loopTurn();
    equal(tracker.isCaughtUp("k"), false);
    stream.push(event);
    await loopTurn();
    equal(tracker.isCaughtUp("k"), true);
    tracker.noteDelete("k", informer, { namespace: "a", name: "never-there" });
    equal(tracker.isCaughtUp("k"), true);
    tracker.close();
    await informers.close();
  });
}

const orders: [left: string | undefined, right: string | undefined, expect: number][] = [
  ["9", "10", -1],
  ["10", "9", 1],
  ["99999999999999999998", "99999999999999999999", -1],
  ["7", "7", 0],
  [undefined, "0", -1],
  ["", undefined, 0],
];
test("resource versions compare as numbers of any length", () => {
  for (const [left, right, expect] of orders) equal(Math.sign(compareResourceVersions(left, right)), expect, `${left} ${right}`);
});
