import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { MetricRegistry } from "../../base/metrics.ts";
import { sleep } from "../../base/clock.ts";
import { loopTurn, VirtualClock } from "../../base/virtual-clock.ts";
import { workQueueMetrics } from "./work-queue-metrics.ts";
import { WorkQueue } from "./work-queue.ts";

function start(work: (key: string, clock: VirtualClock) => Promise<void | "deferred">, workers = 1) {
  const clock = new VirtualClock();
  const queue = new WorkQueue({ clock });
  const stopper = new AbortController();
  const log: string[] = [];
  const running = queue.run(
    async (key) => {
      log.push(`${clock.monotonicMs()} ${key}`);
      return work(key, clock);
    },
    { workers, signal: stopper.signal },
  );
  const stop = async () => {
    stopper.abort();
    await running;
    equal(clock.nextDueMs(), undefined);
  };
  return { clock, queue, log, stop };
}

test("queue: keys once each, in the order they came", async () => {
  const { queue, log, stop } = start(async () => undefined);
  for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
  await loopTurn();
  deepEqual(log, ["0 a", "0 b", "0 c"]);
  await stop();
});

test("queue: a key added while it is worked on is worked on once more, never twice at a time", async () => {
  const { clock, queue, log, stop } = start((_, time) => sleep(time, 10), 3);
  queue.add("a");
  await loopTurn();
  queue.add("a");
  queue.add("a");
  queue.add("b");
  await clock.advance(100);
  deepEqual(log, ["0 a", "0 b", "10 a"]);
  await stop();
});

test("queue: at most so many at a time", async () => {
  const { clock, queue, log, stop } = start((_, time) => sleep(time, 10), 2);
  for (const key of ["a", "b", "c", "d", "e"]) queue.add(key);
  await clock.advance(100);
  deepEqual(log, ["0 a", "0 b", "10 c", "10 d", "20 e"]);
  await stop();
});

test("queue: failures come back after 5 ms, doubled each time, until one goes well", async () => {
  let failures = 4;
  const { clock, queue, log, stop } = start(async () => {
    if (failures-- > 0) throw new Error("not yet");
  });
  queue.add("a");
  await clock.advance(1_000);
  deepEqual(log, ["0 a", "5 a", "15 a", "35 a", "75 a"]);
  equal(queue.failures("a"), 0);
  await stop();
});

test("queue: a deferred key keeps its count of failures", async () => {
  let calls = 0;
  const { clock, queue, log, stop } = start(async () => {
    if (++calls === 2) return "deferred";
    throw new Error("not yet");
  });
  queue.add("a");
  await clock.advance(5);
  queue.add("a");
  await clock.advance(10);
  deepEqual([log, queue.failures("a")], [["0 a", "5 a", "5 a", "15 a"], 3]);
  await stop();
});

test("queue: of several delays the shortest counts, and a plain addition does not wait", async () => {
  const { clock, queue, log, stop } = start(async () => undefined);
  queue.addAfter("a", 50);
  queue.addAfter("a", 20);
  queue.addAfter("a", 90);
  queue.addAfter("b", 30);
  queue.add("b");
  await clock.advance(200);
  deepEqual(log, ["0 b", "20 a", "30 b"]);
  await stop();
});

test("queue: metrics", async () => {
  const clock = new VirtualClock();
  const registry = new MetricRegistry();
  const queue = new WorkQueue({ clock, metrics: workQueueMetrics(registry, "job") });
  const stopper = new AbortController();
  queue.add("a");
  queue.add("b");
  const running = queue.run((_, signal) => sleep(clock, 1_000, signal), { workers: 1, signal: stopper.signal });
  await clock.advance(5_000);
  stopper.abort();
  await running;
  const lines = registry
    .text()
    .split("\n")
    .filter((line) => /_total|_depth|_sum|_count/.test(line) && !line.startsWith("#"));
  deepEqual(lines, [
    'workqueue_adds_total{name="job"} 2',
    'workqueue_depth{name="job"} 0',
    'workqueue_queue_duration_seconds_sum{name="job"} 1',
    'workqueue_queue_duration_seconds_count{name="job"} 2',
    'workqueue_work_duration_seconds_sum{name="job"} 2',
    'workqueue_work_duration_seconds_count{name="job"} 2',
  ]);
});
