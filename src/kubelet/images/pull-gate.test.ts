import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { PullGate } from "./pull-gate.ts";
import type { PullLimits } from "./pull-gate.ts";

const unlimited: PullLimits = { serializeImagePulls: false, maxParallelImagePulls: undefined, registryPullQPS: 0, registryBurst: 10 };

const sizes: [name: string, limits: Partial<PullLimits>, most: number][] = [
  ["one after the other", { serializeImagePulls: true }, 1],
  ["some at once", { maxParallelImagePulls: 2 }, 2],
  ["as many as there are", {}, 5],
];
for (const [name, limits, most] of sizes) {
  test(`pulls: ${name}`, async () => {
    const gate = new PullGate(new VirtualClock(), { ...unlimited, ...limits });
    let [running, seen] = [0, 0];
    const order: number[] = [];
    const pull = (index: number) => async () => {
      seen = Math.max(seen, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      order.push(index);
    };
    await Promise.all([0, 1, 2, 3, 4].map((index) => gate.run(pull(index), new AbortController().signal)));
    equal(seen, most);
    deepEqual(order, [0, 1, 2, 3, 4]);
  });
}

test("pulls: who waits may leave; the next one's turn comes all the same", async () => {
  const gate = new PullGate(new VirtualClock(), { ...unlimited, serializeImagePulls: true });
  const first = Promise.withResolvers<string>();
  const stop = new AbortController();
  const { signal } = new AbortController();
  const runs = [gate.run(() => first.promise, signal), gate.run(async () => "second", stop.signal), gate.run(async () => "third", signal)] as const;
  stop.abort(new Error("no longer wanted"));
  await rejects(runs[1], /no longer wanted/);
  first.resolve("first");
  deepEqual(await Promise.all([runs[0], runs[2]]), ["first", "third"]);
});

test("pulls: too many in a second are refused", async () => {
  const clock = new VirtualClock();
  const gate = new PullGate(clock, { ...unlimited, registryPullQPS: 2, registryBurst: 2 });
  const pull = () => gate.run(async () => "ok", new AbortController().signal);
  await Promise.all([pull(), pull()]);
  await rejects(pull(), { message: "pull QPS exceeded" });
  await clock.advance(500, async () => undefined);
  equal(await pull(), "ok");
  await rejects(pull(), { message: "pull QPS exceeded" });
});
