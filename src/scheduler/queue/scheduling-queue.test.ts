import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { clusterOf, nodeOf, podOf, profileOf } from "../test-support/cluster.ts";
import { podInfoOf } from "../state/pod-info.ts";
import { SchedulingQueue } from "./scheduling-queue.ts";
import type { Pod } from "../../api/core-v1/types.ts";

const info = (name: string, priority = 0, more: Partial<NonNullable<Pod["spec"]>> = {}) =>
  podInfoOf(podOf(name, { priority, requests: { cpu: "6" }, ...more }));
const refusedBy = (...names: string[]) => ({ rejectors: new Set(names), pendingPlugins: new Set<string>(), isError: false });
const error = { rejectors: new Set<string>(), pendingPlugins: new Set<string>(), isError: true };
const nodeAdded = (cpu: string) => ({ resource: "Node", action: "Add", current: nodeOf("n", { allocatable: { cpu, memory: "8Gi", pods: "10" } }) }) as const;

function queueOf(): { queue: SchedulingQueue; clock: VirtualClock; popped: () => string | undefined } {
  const clock = new VirtualClock();
  const profiles = new Map([["default-scheduler", profileOf(clusterOf([]))]]);
  const queue = new SchedulingQueue({ clock, profiles, initialBackoffMs: 1000, maxBackoffMs: 10_000, maxUnschedulableMs: 300_000 });
  return { queue, clock, popped: () => queue.pop()?.info.name };
}

test("queue: by priority, then by age", () => {
  const { queue, popped } = queueOf();
  for (const pod of [info("a", 1), info("b", 5), info("c", 5), info("d", 1)]) queue.add(pod);
  deepEqual([popped(), popped(), popped(), popped(), popped()], ["b", "c", "a", "d", undefined]);
});

test("queue: a pod that was refused waits for an event that may help, and only that", () => {
  const { queue, popped } = queueOf();
  queue.add(info("p"));
  queue.giveBack(queue.pop()!, refusedBy("NodeResourcesFit"));
  equal(popped(), undefined);
  queue.move(nodeAdded("4"));
  equal(popped(), undefined);
  queue.move(nodeAdded("8"));
  equal(popped(), "p");
});

test("queue: an event during the attempt is not lost", () => {
  const { queue, popped } = queueOf();
  queue.add(info("p"));
  const entry = queue.pop()!;
  queue.move(nodeAdded("8"));
  queue.giveBack(entry, refusedBy("NodeResourcesFit"));
  equal(popped(), "p");
});

test("queue: back-off does not hold pods up while nobody else waits, except after errors", async () => {
  const { queue, clock, popped } = queueOf();
  queue.add(info("p"));
  queue.giveBack(queue.pop()!, error);
  equal(popped(), undefined);
  let isReady = false;
  void queue.ready(new AbortController().signal).then(() => (isReady = true));
  await clock.advance(999);
  equal(isReady, false);
  await clock.advance(1);
  equal(isReady, true);
  queue.giveBack(queue.pop()!, error);
  await clock.advance(1999);
  equal(popped(), undefined);
  await clock.advance(1);
  equal(popped(), "p");
});

test("queue: others go first while a pod backs off", async () => {
  const { queue, clock, popped } = queueOf();
  queue.add(info("p", 10));
  queue.giveBack(queue.pop()!, refusedBy("NodeResourcesFit"));
  queue.move(nodeAdded("8"));
  queue.add(info("q"));
  equal(popped(), "q");
  queue.add(info("r"));
  await clock.advance(1000);
  deepEqual([popped(), popped()], ["p", "r"]);
});

test("queue: gates keep a pod out until the last one opens", () => {
  const { queue, popped } = queueOf();
  const gated = podOf("p", { schedulingGates: [{ name: "g" }] });
  queue.add(podInfoOf(gated));
  queue.move(nodeAdded("8"));
  equal(popped(), undefined);
  const open = podOf("p");
  queue.update(podInfoOf(open), [{ resource: "TargetPod", action: "UpdatePodSchedulingGatesEliminated", old: gated, current: open }]);
  equal(popped(), "p");
});

test("queue: nothing waits longer than five minutes for an event", async () => {
  const { queue, clock, popped } = queueOf();
  queue.add(info("p"));
  queue.giveBack(queue.pop()!, refusedBy("NodeName"));
  await clock.advance(300_000);
  queue.flush();
  equal(popped(), undefined);
  await clock.advance(1);
  queue.flush();
  equal(popped(), "p");
});

test("queue: a deleted pod is gone wherever it was", () => {
  const { queue, popped } = queueOf();
  for (const name of ["a", "b"]) queue.add(info(name));
  queue.delete("uid-a");
  const entry = queue.pop()!;
  queue.delete(entry.info.uid);
  equal(popped(), undefined);
  equal(queue.size, 0);
});

test("queue: a pod is taken out of line along with another, wherever it waits, but not past its gate", () => {
  const { queue, popped } = queueOf();
  for (const pod of [info("first"), info("waiting"), info("refused")]) queue.add(pod);
  queue.giveBack(queue.claim("uid-refused")!, refusedBy("NodeResourcesFit"));
  queue.add(podInfoOf(podOf("gated", { schedulingGates: [{ name: "g" }] })));
  equal(popped(), "first");
  deepEqual(
    ["waiting", "refused", "gated", "first", "nobody"].map((name) => queue.claim(`uid-${name}`)?.info.name),
    ["waiting", "refused", undefined, undefined, undefined],
  );
  equal(popped(), undefined);
});
