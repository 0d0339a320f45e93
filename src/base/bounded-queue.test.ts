import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { BoundedQueue } from "./bounded-queue.ts";
import { loopTurn } from "./virtual-clock.ts";

test("bounded queue: refuses the newest when it is full", () => {
  const queue = new BoundedQueue<number>(2);
  deepEqual([queue.offer(1), queue.offer(2), queue.offer(3)], [true, true, false]);
  deepEqual([queue.poll(), queue.offer(4), queue.poll(), queue.poll(), queue.poll()], [1, true, 2, 4, undefined]);
});

test("bounded queue: keeps order through many rounds", () => {
  const queue = new BoundedQueue<number>(100);
  const seen: (number | undefined)[] = [];
  for (let index = 0; index < 500; index++) {
    queue.offer(index);
    if (index % 2 === 1) seen.push(queue.poll());
    if (queue.size > 90) while (queue.size > 0) seen.push(queue.poll());
  }
  while (queue.size > 0) seen.push(queue.poll());
  deepEqual(
    seen,
    Array.from({ length: 500 }, (_, index) => index),
  );
});

test("bounded queue: drains as items come, until the signal aborts", async () => {
  const queue = new BoundedQueue<number>(10);
  const stopper = new AbortController();
  const seen: number[] = [];
  const draining = (async () => {
    for await (const item of queue.drain(stopper.signal)) seen.push(item);
  })();
  queue.offer(1);
  await loopTurn();
  queue.offer(2);
  queue.offer(3);
  await loopTurn();
  stopper.abort();
  await draining;
  queue.offer(4);
  deepEqual(seen, [1, 2, 3]);
  equal(queue.size, 1);
});
