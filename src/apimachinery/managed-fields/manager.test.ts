import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../json.ts";
import type { ManagedFieldsEntry } from "../object.ts";
import type { Schema } from "../schema.ts";
import { applyConfiguration, updateManagedFields } from "./manager.ts";
import type { ApplyInput, UpdateInput } from "./manager.ts";
import { openThing, thing } from "./typed/test-schema.ts";

const time = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`;
const thingOf = (content: JsonObject, entries?: ManagedFieldsEntry[]): JsonObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: {
    name: "t",
    uid: "u",
    ...(content["metadata"] as JsonObject),
    ...(entries !== undefined && { managedFields: entries as unknown as JsonObject[] }),
  },
  spec: { containers: null, either: 0, raw: null, ...(content["spec"] as JsonObject) },
  status: (content["status"] as JsonObject) ?? {},
});
const config = (content: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "t", ...(content["metadata"] as JsonObject) },
  ...(content["spec"] !== undefined && { spec: content["spec"] }),
});
const entry = (name: string, fields: object, more: ManagedFieldsEntry = {}): ManagedFieldsEntry => ({
  manager: name,
  operation: "Update",
  apiVersion: "v1",
  time: time(0),
  fieldsType: "FieldsV1",
  fieldsV1: fields as JsonObject,
  ...more,
});
const applied = (name: string, fields: object, more: ManagedFieldsEntry = {}): ManagedFieldsEntry => entry(name, fields, { operation: "Apply", ...more });
function untimed(timed: ManagedFieldsEntry): ManagedFieldsEntry {
  const { time: _, ...rest } = timed;
  return rest;
}
const inSpec = (fields: object) => ({ "f:spec": fields });

const update = (input: Partial<UpdateInput> & { newObject: JsonObject }) =>
  updateManagedFields({
    schema: thing,
    oldObject: undefined,
    manager: "m",
    apiVersion: "v1",
    subresource: "",
    nowText: time(9),
    resetFields: ["status"],
    ...input,
  });

describe("updateManagedFields", () => {
  it("gives a creator what is more than Go's zero value", () => {
    const created = thingOf({ metadata: { labels: { a: "1" } }, spec: { replicas: 1, containers: [{ name: "c" }] }, status: { phase: "x" } });
    const fields = {
      "f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
      "f:spec": { "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:name": {} } }, "f:replicas": {} },
    };
    assert.deepEqual(update({ newObject: created }), [entry("m", fields, { time: time(9) })]);
  });

  it("makes no entry of what nobody can own", () => {
    assert.deepEqual(update({ newObject: thingOf({}) }), []);
  });

  const owned = [entry("first", inSpec({ "f:replicas": {}, "f:args": {} })), entry("second", inSpec({ "f:isPaused": {} }))];
  const old = thingOf({ spec: { replicas: 1, args: ["a"], isPaused: true } }, owned);
  const cases: [name: string, spec: JsonObject, input: Partial<UpdateInput>, expected: ManagedFieldsEntry[]][] = [
    ["nothing changed", { replicas: 1, args: ["a"], isPaused: true }, {}, owned],
    [
      "another's field changed",
      { replicas: 2, args: ["a"], isPaused: true },
      {},
      [entry("first", inSpec({ "f:args": {} })), owned[1]!, entry("m", inSpec({ "f:replicas": {} }), { time: time(9) })],
    ],
    [
      "the own field changed",
      { replicas: 2, args: ["a"], isPaused: true },
      { manager: "first" },
      [owned[1]!, entry("first", inSpec({ "f:args": {}, "f:replicas": {} }), { time: time(9) })],
    ],
    ["a field removed", { args: ["a"], isPaused: true }, {}, [entry("first", inSpec({ "f:args": {} })), owned[1]!]],
    ["the last field removed", { replicas: 1, args: ["a"] }, {}, [owned[0]!]],
    [
      "through a subresource",
      { replicas: 2, args: ["a"], isPaused: true },
      { subresource: "scale", manager: "second" },
      [entry("first", inSpec({ "f:args": {} })), owned[1]!, entry("second", inSpec({ "f:replicas": {} }), { time: time(9), subresource: "scale" })],
    ],
    ["a path that resets the field", { replicas: 2, args: ["a"], isPaused: true }, { resetFields: ["spec"] }, owned],
  ];
  for (const [name, spec, input, expected] of cases) {
    it(name, () => assert.deepEqual(update({ oldObject: old, newObject: thingOf({ spec }), ...input }), expected));
  }

  const edits: [name: string, entries: ManagedFieldsEntry[] | undefined, expected: ManagedFieldsEntry[]][] = [
    ["left out", undefined, owned],
    ["empty", [], []],
    ["one empty entry", [{}], []],
    ["other owners", [entry("mine", inSpec({ "f:args": {} }))], [entry("mine", inSpec({ "f:args": {} }))]],
    ["an entry of nothing", [entry("mine", {})], []],
    ["an unknown operation", [entry("mine", {}, { operation: "Delete" })], owned],
    ["an unknown type", [entry("mine", {}, { fieldsType: "FieldsV2" })], owned],
    ["no version", [entry("mine", {}, { apiVersion: "" })], owned],
    ["unreadable fields", [entry("mine", { "k:x": {} })], owned],
  ];
  for (const [name, entries, expected] of edits) {
    it(`managed fields that the client sends: ${name}`, () => {
      const newObject = thingOf({ spec: { replicas: 1, args: ["a"], isPaused: true } }, entries);
      assert.deepEqual(update({ oldObject: old, newObject }), expected);
      assert.deepEqual(update({ oldObject: old, newObject, subresource: "status" }), owned, "a subresource does not touch them");
    });
  }

  it("does not track what was cleared", () => {
    assert.deepEqual(update({ oldObject: thingOf({ spec: { replicas: 1 } }), newObject: thingOf({ spec: { replicas: 2 } }) }), []);
  });

  it("folds the oldest updaters beyond ten", () => {
    const entries = Array.from({ length: 10 }, (_, index) =>
      entry(`u${index}`, { "f:metadata": { "f:labels": { [`f:l${index}`]: {} } } }, { time: time(index) }),
    );
    const labels = Object.fromEntries(entries.map((_, index) => [`l${index}`, "1"]));
    const result = update({
      oldObject: thingOf({ metadata: { labels } }, entries),
      newObject: thingOf({ metadata: { labels: { ...labels, n: "1" } } }),
      nowText: time(10),
    });
    assert.equal(result.length, 10);
    assert.deepEqual(result[0], entry("ancient-changes", { "f:metadata": { "f:labels": { "f:l0": {}, "f:l1": {} } } }, { time: time(1) }));
    assert.equal(result.at(-1)!.manager, "m");
  });

  it("drops the owners of versions that are gone, and compares in the others", () => {
    const entries = [entry("gone", inSpec({ "f:args": {} }), { apiVersion: "v0" }), entry("other", { "f:copies": {} }, { apiVersion: "v2" })];
    const otherVersions = (apiVersion: string) =>
      apiVersion === "v2"
        ? {
            schema: openThing as Schema,
            convert: (object: JsonObject) => ({ copies: (object["spec"] as JsonObject)["replicas"]! }),
            convertBack: (object: JsonObject) => object,
          }
        : undefined;
    const oldObject = thingOf({ spec: { replicas: 1, args: ["a"] } }, entries);
    assert.deepEqual(update({ oldObject, newObject: thingOf({ spec: { replicas: 1, args: ["b"] } }), otherVersions }), [
      entries[1],
      entry("m", inSpec({ "f:args": {} }), { time: time(9) }),
    ]);
    assert.deepEqual(update({ oldObject, newObject: thingOf({ spec: { replicas: 2, args: ["a"] } }), otherVersions }), [
      entry("m", inSpec({ "f:replicas": {} }), { time: time(9) }),
    ]);
  });

  it("owns what became atomic as a whole", () => {
    const entries = [entry("m", inSpec({ "f:selector": { ".": {}, "f:a": {} } }))];
    const object = thingOf({ spec: { selector: { a: "1" } } }, entries);
    assert.deepEqual(update({ oldObject: object, newObject: object }), [entry("m", inSpec({ "f:selector": {} }))]);
  });

  it("survives hostile depth", () => {
    const free = JSON.parse(`${'{"a":'.repeat(9000)}1${"}".repeat(9000)}`) as JsonObject;
    assert.equal(update({ schema: openThing, newObject: { ...thingOf({}), free } }).length, 1);
  });
});

const apply = (input: Partial<ApplyInput> & { config: JsonObject }) =>
  applyConfiguration({
    schema: thing,
    liveObject: undefined,
    manager: "one",
    force: false,
    apiVersion: "v1",
    subresource: "",
    nowText: time(9),
    resetFields: ["status"],
    ...input,
  });

describe("applyConfiguration", () => {
  it("creates", () => {
    const outcome = apply({ config: config({ spec: { replicas: 1 } }) });
    assert(outcome.kind === "applied");
    assert.deepEqual(outcome.managedFields, [applied("one", inSpec({ "f:replicas": {} }), { time: time(9) })]);
    assert.deepEqual((outcome.object["spec"] as JsonObject)["replicas"], 1);
  });

  const shared = [applied("one", inSpec({ "f:replicas": {}, "f:args": {} })), entry("upd", inSpec({ "f:isPaused": {} }))];
  const live = thingOf({ spec: { replicas: 1, args: ["a"], isPaused: true } }, shared);
  const cases: [name: string, spec: JsonObject, input: Partial<ApplyInput>, spec: JsonObject, expected: ManagedFieldsEntry[]][] = [
    ["the same again", { replicas: 1, args: ["a"] }, {}, { replicas: 1, args: ["a"], isPaused: true }, shared],
    [
      "a value changed",
      { replicas: 2, args: ["a"] },
      {},
      { replicas: 2, args: ["a"], isPaused: true },
      [applied("one", inSpec({ "f:args": {}, "f:replicas": {} }), { time: time(9) }), shared[1]!],
    ],
    [
      "a field no longer applied",
      { args: ["a"] },
      {},
      { args: ["a"], isPaused: true },
      [applied("one", inSpec({ "f:args": {} }), { time: time(9) }), shared[1]!],
    ],
    [
      "a value shared",
      { replicas: 1 },
      { manager: "two" },
      { replicas: 1, args: ["a"], isPaused: true },
      [untimed(applied("two", inSpec({ "f:replicas": {} }))), ...shared],
    ],
    ["a share given up", { args: ["a"], replicas: 1 }, { manager: "one" }, { replicas: 1, args: ["a"], isPaused: true }, shared],
    [
      "forced",
      { replicas: 9 },
      { manager: "two", force: true },
      { replicas: 9, args: ["a"], isPaused: true },
      [applied("one", inSpec({ "f:args": {} })), applied("two", inSpec({ "f:replicas": {} }), { time: time(9) }), shared[1]!],
    ],
    ["nothing but identity", {}, {}, { isPaused: true }, [applied("one", { "f:spec": {} }, { time: time(9) }), shared[1]!]],
  ];
  for (const [name, spec, input, expectedSpec, expected] of cases) {
    it(name, () => {
      const outcome = apply({ liveObject: live, config: config({ spec }), ...input });
      assert(outcome.kind === "applied");
      const { containers: _c, either: _e, raw: _r, ...rest } = outcome.object["spec"] as JsonObject;
      assert.deepEqual(rest, expectedSpec);
      assert.deepEqual(outcome.managedFields, expected);
    });
  }

  it("tells conflicts by manager and field", () => {
    const owners = [applied("b", inSpec({ "f:replicas": {}, "f:args": {} })), entry("a", inSpec({ "f:replicas": {} }), { subresource: "scale" })];
    const outcome = apply({ liveObject: thingOf({ spec: { replicas: 1, args: ["a"] } }, owners), config: config({ spec: { replicas: 2, args: ["b"] } }) });
    assert(outcome.kind === "conflicts");
    assert.equal(
      outcome.statusMessage,
      'Apply failed with 3 conflicts: conflicts with "a" with subresource "scale" using v1:\n- .spec.replicas\nconflicts with "b":\n- .spec.args\n- .spec.replicas',
    );
    assert.deepEqual(outcome.causes[0], {
      reason: "FieldManagerConflict",
      message: 'conflict with "a" with subresource "scale" using v1',
      field: ".spec.replicas",
    });
    const single = apply({ liveObject: live, config: config({ spec: { replicas: 2 } }), manager: "two" });
    assert(single.kind === "conflicts");
    assert.equal(single.statusMessage, 'Apply failed with 1 conflict: conflict with "one": .spec.replicas');
  });

  it("finds an owner for what was there before the first apply", () => {
    const liveObject = thingOf({ spec: { replicas: 1 } });
    const outcome = apply({ liveObject, config: config({ spec: { replicas: 2 } }) });
    assert(outcome.kind === "conflicts");
    assert.equal(outcome.statusMessage, 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .spec.replicas');
    const agreed = apply({ liveObject, config: config({ spec: { replicas: 1 } }) });
    assert(agreed.kind === "applied" && agreed.isUnchanged);
    assert.deepEqual(agreed.managedFields, [
      untimed(applied("one", inSpec({ "f:replicas": {} }))),
      entry("before-first-apply", inSpec({ "f:replicas": {} }), { time: time(9) }),
    ]);
  });

  it("keeps items that others own; a field inside an item does not keep it", () => {
    const item = (...fields: string[]) => Object.fromEntries(fields.map((field) => [field, {}]));
    const owners = [
      applied("one", inSpec({ "f:containers": { 'k:{"name":"c"}': item(".", "f:name"), 'k:{"name":"d"}': item(".", "f:name") } })),
      applied("two", inSpec({ "f:containers": { 'k:{"name":"c"}': item(".", "f:name", "f:image") } })),
      entry("upd", inSpec({ "f:containers": { 'k:{"name":"d"}': item("f:image") } })),
    ];
    const liveObject = thingOf({ spec: { containers: [{ name: "c", image: "1" }, { name: "d", image: "2" }, { name: "e" }] } }, owners);
    const outcome = apply({ liveObject, config: config({ spec: { replicas: 1 } }) });
    assert(outcome.kind === "applied");
    assert.deepEqual((outcome.object["spec"] as JsonObject)["containers"], [{ name: "c", image: "1" }, { name: "e" }]);
    assert.deepEqual(
      outcome.managedFields.map(({ manager }) => manager),
      ["two", "one"],
    );
  });

  it("takes over from client-side apply", () => {
    const annotation = { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(config({ spec: { replicas: 1 } })) };
    const owners = [entry("kubectl-client-side-apply", inSpec({ "f:replicas": {}, "f:args": {} }))];
    const liveObject = thingOf({ metadata: { annotations: annotation }, spec: { replicas: 1, args: ["a"] } }, owners);
    assert.equal(apply({ liveObject, manager: "other", config: config({ spec: { replicas: 2 } }) }).kind, "conflicts");
    const outcome = apply({ liveObject, manager: "kubectl", config: config({ spec: { replicas: 2 } }) });
    assert(outcome.kind === "applied");
    const { annotations } = outcome.object["metadata"] as { annotations: Record<string, string> };
    assert.equal(
      annotations["kubectl.kubernetes.io/last-applied-configuration"],
      '{"apiVersion":"v1","kind":"Thing","metadata":{"name":"t"},"spec":{"replicas":2}}\n',
    );
    const refused = apply({ liveObject, manager: "kubectl", config: config({ spec: { replicas: 2, args: ["b"] } }) });
    assert(refused.kind === "conflicts");
    assert.equal(refused.statusMessage, 'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .spec.args');
  });

  const refused: [name: string, config: JsonObject, kind: string, message: string][] = [
    ["managed fields", config({ metadata: { managedFields: [] } }), "badRequest", "metadata.managedFields must be nil"],
    ["another kind", { apiVersion: "v1", kind: "Other" }, "badRequest", "invalid object type: /v1, Kind=Other"],
    ["no kind", {}, "badRequest", "invalid object type: /, Kind="],
    ["another group", { apiVersion: "apps/v1", kind: "Thing" }, "badRequest", "invalid object type: apps/v1, Kind=Thing"],
    [
      "an unknown field",
      config({ metadata: { namespace: "n" }, spec: { bogus: 1 } }),
      "failure",
      "failed to create typed patch object (n/t; /v1, Kind=Thing): .spec.bogus: field not declared in schema",
    ],
  ];
  for (const [name, configuration, kind, message] of refused) {
    it(`refuses ${name}`, () => assert.throws(() => apply({ config: configuration, kind: "Thing" }), { name: "PatchError", kind, message }));
  }
});
