import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { QueueSet } from "./queue-set.ts";
import { SeatRequest } from "./seat-request.ts";
import type { WorkEstimate } from "./seat-request.ts";
import { dealHand } from "./shuffle-sharding.ts";

const details = { user: { username: "" }, info: { verb: "", path: "", namespace: "", name: "", version: "", resource: "", subresource: "" } };
const request = (distinguisher: string, nowMs: number, work: Partial<WorkEstimate> = {}) =>
  new SeatRequest({ schema: "s", distinguisher }, { initialSeats: 1, finalSeats: 0, afterMs: 0, ...work }, { arrivedMs: nowMs, details });
const queue = (index: number) => () => Uint32Array.of(index);

test("queues: what fits runs, what does not waits, and a full queue refuses", () => {
  const set = new QueueSet({ queues: 1, queueLengthLimit: 1 }, 1, 0);
  const [first, second, third] = [request("a", 0), request("a", 0), request("a", 0)];
  deepEqual([set.arrive(first, 0), set.arrive(second, 600), set.arrive(third, 700)], ["executing", "waiting", "queue-full"]);
  // One queue wants the one seat, so virtual time is real time; what waits cannot have started before it came.
  equal(set.virtualTime.toFixed(3), "0.700");
  equal(set.queues.get(0)!.nextDispatchR.toFixed(3), "0.600");
  deepEqual(set.finish(first, 3000), [second]);
  deepEqual(set.finish(second, 6000), []);
  ok(set.isIdle);
  equal(set.activeQueues, 0);
});

test("queues: a level without queues refuses what does not fit", () => {
  const set = new QueueSet({ queues: 0, queueLengthLimit: 0 }, 2, 0);
  const [wide, one, two] = [request("a", 0, { initialSeats: 5 }), request("a", 0), request("a", 0)];
  equal(set.arrive(wide, 0), "executing", "what is wider than the level runs alone");
  equal(set.arrive(one, 0), "concurrency-limit");
  set.finish(wide, 10);
  deepEqual([set.arrive(one, 20), set.arrive(two, 20), set.arrive(request("a", 0), 20)], ["executing", "executing", "concurrency-limit"]);
});

test("queues: those who come late get their turn before the rest of a flood", () => {
  const set = new QueueSet({ queues: 4, queueLengthLimit: 100 }, 1, 0);
  const flood = Array.from({ length: 20 }, () => request("flood", 0));
  for (const each of flood) set.arrive(each, 0, queue(0));
  const mouse = request("mouse", 0);
  equal(set.arrive(mouse, 1, queue(3)), "waiting");
  const order: string[] = [];
  let running = flood[0]!;
  for (let nowMs = 4; order.length < 3; nowMs += 3) {
    running = set.finish(running, nowMs)[0]!;
    order.push(running.flow.distinguisher);
  }
  ok(order.includes("mouse"), order.join());
});

test("queues: seats that the consequences of a write hold come free later", () => {
  const set = new QueueSet({ queues: 1, queueLengthLimit: 5 }, 3, 0);
  const write = request("a", 0, { finalSeats: 3, afterMs: 15 });
  const next = request("a", 0);
  deepEqual([set.arrive(write, 0), set.arrive(next, 1)], ["executing", "waiting"]);
  deepEqual([set.finish(write, 5), set.seatsInUse], [[], 3]);
  deepEqual([set.release(write, 20), set.seatsInUse], [[next], 1]);
});

test("queues: more seats, or fewer to wait for, let the next in", () => {
  const set = new QueueSet({ queues: 1, queueLengthLimit: 5 }, 1, 0);
  const [a, b, c, d] = [request("a", 0), request("a", 0), request("a", 0, { initialSeats: 9 }), request("a", 0)];
  for (const each of [a, b, c, d]) set.arrive(each, 0);
  deepEqual(set.setLimit(2, 10), [b]);
  deepEqual(set.finish(a, 20), [], "the wide one is next and does not fit");
  deepEqual(set.giveUp(c, 30), [d]);
  deepEqual([set.waiting, set.seatsWaiting, set.executing], [0, 0, 2]);
});

test("queues: whatever happens, seats add up and nobody who fits waits", () => {
  const step = fc.record({
    flow: fc.nat(5),
    seats: fc.integer({ min: 1, max: 4 }),
    afterMs: fc.constantFrom(0, 0, 5),
    passMs: fc.nat(20),
    act: fc.constantFrom("arrive", "arrive", "finish", "giveUp", "limit"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const set = new QueueSet({ queues: 6, queueLengthLimit: 8 }, 5, 0);
      const all: SeatRequest[] = [];
      const kept: SeatRequest[] = [];
      let nowMs = 0;
      for (const { flow, seats, afterMs, passMs, act } of steps) {
        nowMs += passMs;
        const pick = (state: string) => all.filter((each) => each.state === state)[0];
        if (act === "arrive") {
          const made = request(String(flow), nowMs, { initialSeats: seats, finalSeats: afterMs === 0 ? 0 : seats, afterMs });
          all.push(made);
          set.arrive(made, nowMs, () => dealHand(made.flow, 6, 2));
        } else if (act === "limit") set.setLimit(seats + 1, nowMs);
        else if (act === "giveUp" && pick("waiting") !== undefined) set.giveUp(pick("waiting")!, nowMs);
        else if (act === "finish" && pick("executing") !== undefined) {
          const done = pick("executing")!;
          set.finish(done, nowMs);
          if (done.work.afterMs > 0) kept.push(done);
        } else if (kept.length > 0) set.release(kept.shift()!, nowMs);
        const executing = all.filter((each) => each.state === "executing");
        const waiting = all.filter((each) => each.state === "waiting");
        equal(set.executing, executing.length);
        equal(set.waiting, waiting.length);
        equal(
          set.seatsInUse,
          [...executing.map((each) => each.seats), ...kept.map((each) => each.work.finalSeats)].reduce((sum, each) => sum + each, 0),
        );
        equal(
          set.seatsWaiting,
          waiting.reduce((sum, each) => sum + each.seats, 0),
        );
        if (waiting.length > 0) ok(set.seatsInUse > 0, "something waits for nothing");
        equal(set.activeQueues, new Set([...executing, ...waiting].map((each) => each.queue!.index)).size);
      }
    }),
  );
});

test("shuffle sharding: a flow's hand is its own, distinct cards of the deck", () => {
  const hand = dealHand({ schema: "s", distinguisher: "u" }, 128, 6);
  deepEqual(hand, dealHand({ schema: "s", distinguisher: "u" }, 128, 6));
  equal(new Set(hand).size, 6);
  deepEqual([...dealHand({ schema: "s", distinguisher: "all" }, 5, 5)].sort(), [0, 1, 2, 3, 4]);
  const hands = new Set(Array.from({ length: 200 }, (_, index) => dealHand({ schema: "s", distinguisher: String(index) }, 128, 6).join()));
  equal(hands.size, 200);
  const used = new Set(Array.from({ length: 200 }, (_, index) => [...dealHand({ schema: "s", distinguisher: String(index) }, 16, 4)]).flat());
  equal(used.size, 16);
});
