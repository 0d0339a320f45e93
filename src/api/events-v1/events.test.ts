import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import type { Event as CoreEvent } from "../core-v1/types.ts";
import type { RuleContext } from "../strategy.ts";
import { eventFromCore, eventToCore } from "./conversion.ts";
import { validateCoreEvent } from "./event-rules.ts";
import { events } from "./event.ts";
import type { Event } from "./types.ts";

const context = {} as RuleContext;
const core: CoreEvent = {
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "e", namespace: "n" },
  involvedObject: { kind: "Pod", namespace: "n", name: "p" },
  reason: "R",
  message: "m",
  type: "Normal",
  source: { component: "kubelet" },
  firstTimestamp: "2026-01-01T00:00:00Z",
  lastTimestamp: "2026-01-01T00:00:00Z",
  count: 2,
  reportingComponent: "c",
  reportingInstance: "i",
};
const made: Event = {
  metadata: { name: "e", namespace: "n" },
  eventTime: "2026-01-01T00:00:00.000000Z",
  regarding: { kind: "Pod", namespace: "n", name: "p" },
  reportingController: "e.com/c",
  reportingInstance: "i",
  action: "A",
  reason: "R",
  type: "Normal",
};

test("both faces carry the same", () => {
  const face = eventFromCore(core);
  assert.deepEqual(
    [face.apiVersion, face.note, face.deprecatedCount, face.deprecatedSource, face.regarding],
    ["events.k8s.io/v1", "m", 2, core.source, core.involvedObject],
  );
  assert.deepEqual(eventToCore(face), core);
});

test("old events need only the namespace of their object", () => {
  assert.deepEqual(validateCoreEvent(core), []);
  assert.deepEqual(validateCoreEvent({ ...core, involvedObject: { namespace: "other" } }).map(fieldErrorText), [
    'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
  ]);
});

test("events of events.k8s.io", () => {
  assert.deepEqual(events.create.validate?.(made, context), []);
  const faults = (change: Partial<Event>) => events.create.validate?.({ ...made, ...change } as Event, context).map(fieldErrorText);
  assert.deepEqual(faults({ action: "", type: "Odd", deprecatedCount: 1 }), [
    "action: Required value",
    'type: Invalid value: "": has invalid value: Odd',
    'count: Invalid value: "": needs to be unset',
  ]);
  assert.deepEqual(events.update.validate?.({ ...made, note: "else" }, made, context).map(fieldErrorText), [
    'message: Invalid value: "else": field is immutable',
  ]);
});
