import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { EventCorrelator } from "./event-correlator.ts";
import { buildEvent } from "./event-recorder.ts";
import type { EventDecision } from "./event-correlator.ts";

const second = 1000;
let serial = 0;
function event(message: string, extra: { name?: string; fieldPath?: string; reason?: string } = {}) {
  const { name = "web", fieldPath, reason = "Failed" } = extra;
  const regarding = { kind: "Pod", namespace: "a", name, uid: `uid-${name}`, apiVersion: "v1", ...(fieldPath !== undefined && { fieldPath }) };
  return buildEvent(regarding, { type: "Warning", reason, message }, { component: "kubelet", host: "n1", nowMs: 0, name: `${name}.${serial++}` });
}
const shown = (decision: EventDecision) =>
  decision.kind === "drop"
    ? "drop"
    : decision.kind === "create"
      ? `create ${decision.event.message}`
      : `patch ${JSON.stringify((decision.patch.body as { count: number }).count)} ${decision.event.message}`;

test("events: repetitions raise the count of the first", () => {
  const correlator = new EventCorrelator();
  const first = event("a");
  deepEqual(shown(correlator.decide(first, 0)), "create a");
  const again = correlator.decide(event("a"), second);
  deepEqual(again.kind === "patch" && [again.name, again.patch], [
    first.metadata.name,
    { type: "strategic", body: { count: 2, lastTimestamp: first.lastTimestamp, message: "a" } },
  ]);
  deepEqual(shown(correlator.decide(event("a"), second)), "patch 3 a");
});

test("events: another object, reason, message or part is another event", () => {
  const correlator = new EventCorrelator();
  const events = [event("a"), event("b"), event("a", { name: "db" }), event("a", { reason: "Killing" }), event("a", { fieldPath: "spec.containers{c}" })];
  deepEqual(
    events.map((item) => shown(correlator.decide(item, 0)).split(" ")[0]),
    events.map(() => "create"),
  );
});

test("events: from the tenth message in ten minutes on they are combined", () => {
  const correlator = new EventCorrelator();
  const decisions = Array.from({ length: 12 }, (_, index) => shown(correlator.decide(event(`m${index}`), index)));
  deepEqual(decisions.slice(8), [
    "create m8",
    "create (combined from similar events): m9",
    "patch 2 (combined from similar events): m10",
    "patch 3 (combined from similar events): m11",
  ]);
  equal(shown(correlator.decide(event("late"), 11 + 600_001)), "create late");
});

test("events: an object that tells too much is cut off, and gets one more every five minutes", () => {
  const correlator = new EventCorrelator();
  const kinds = Array.from({ length: 27 }, () => correlator.decide(event("a"), 0).kind);
  deepEqual(kinds.slice(23), ["patch", "patch", "drop", "drop"]);
  equal(correlator.decide(event("a", { name: "db" }), 0).kind, "create");
  equal(shown(correlator.decide(event("a"), 300 * second)), "patch 28 a");
  equal(correlator.decide(event("a"), 301 * second).kind, "drop");
});
