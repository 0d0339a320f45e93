import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../base/random.ts";
import type { ContainerEvent } from "../cri.ts";
import { AddressPool } from "./address-pool.ts";
import { EventFeed } from "./event-feed.ts";

test("addresses: in order, not twice, again after release, none left", () => {
  const pool = new AddressPool("10.1.2.0/29");
  assert.equal(pool.claim("10.1.2.3"), true);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => pool.take()),
    ["10.1.2.2", "10.1.2.4", "10.1.2.5", "10.1.2.6"],
  );
  assert.equal(pool.take(), undefined);
  pool.release("10.1.2.4");
  assert.equal(pool.take(), "10.1.2.4");
});

test("addresses: ranges over several octets, a start anywhere", () => {
  const pool = new AddressPool("127.64.0.0/10", seededRandom(7));
  const [first = "", second = ""] = [pool.take(), pool.take()];
  assert.match(first, /^127\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./);
  assert.notEqual(first, second);
});

test("events: a listener that falls behind is told to list again", async () => {
  const feed = new EventFeed();
  const stop = new AbortController();
  const listening = feed.listen(stop.signal);
  const event: ContainerEvent = { type: "CONTAINER_STARTED", container_id: "c", pod_sandbox_id: "s", pod_uid: "u" };
  assert.equal((await listening.next()).value?.type, "RELIST");
  const next = listening.next();
  for (let index = 0; index < 10_002; index++) feed.emit(event);
  assert.equal((await next).value?.type, "CONTAINER_STARTED");
  let count = 1;
  for await (const { type } of listening) {
    if (type === "RELIST") break;
    count++;
  }
  assert.equal(count, 10_000);
});
