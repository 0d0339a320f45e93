import assert from "node:assert/strict";
import { test } from "node:test";
import { rawNumber } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from "../../api/apiextensions-v1/types.ts";
import { StoredObject, encodeStored, parseStored } from "../cache/stored-object.ts";
import { CustomResourceCodec, normalizeNumbers } from "./codec.ts";
import { decideNames } from "./names.ts";
import { nextStatus } from "./status-plan.ts";
import { terminationStep } from "./termination.ts";
import { VersionSchema } from "./version-schema.ts";

const names = (plural: string, rest: Partial<CustomResourceDefinitionNames> = {}): CustomResourceDefinitionNames => ({
  plural,
  singular: plural.slice(0, -1),
  kind: plural,
  listKind: `${plural}List`,
  ...rest,
});
const crd = (spec: CustomResourceDefinitionNames, status: CustomResourceDefinition["status"] = {}): CustomResourceDefinition => ({
  metadata: { name: `${spec.plural}.e.com` },
  spec: { group: "e.com", scope: "Namespaced", names: spec },
  status,
});
const accepted = (spec: CustomResourceDefinitionNames) => crd(spec, { acceptedNames: spec });

test("names are given once in a group", () => {
  const other = accepted(names("widgets", { shortNames: ["wi"] }));
  const rows: [asked: CustomResourceDefinitionNames, reason: string, message: string, given: Partial<CustomResourceDefinitionNames>][] = [
    [names("gadgets"), "NoConflicts", "no conflicts found", { plural: "gadgets", kind: "gadgets" }],
    [names("gadgets", { kind: "widgets" }), "KindConflict", '"widgets" is already in use', { plural: "gadgets", kind: "" }],
    [names("gadgets", { shortNames: ["wi", "g"] }), "ShortNamesConflict", '"wi" is already in use', { plural: "gadgets" }],
    [names("gadgets", { singular: "widget", listKind: "widgetsList" }), "ListKindConflict", '"widgetsList" is already in use', { plural: "gadgets" }],
  ];
  for (const [asked, reason, message, given] of rows) {
    const decision = decideNames(crd(asked), [other]);
    assert.deepEqual([decision.namesAccepted.reason, decision.namesAccepted.message], [reason, message]);
    for (const [key, value] of Object.entries(given)) assert.equal(decision.acceptedNames[key as "plural"], value);
  }
});

test("a definition is named, then established, then left alone", () => {
  const seen: string[][] = [];
  let current = crd(names("widgets"));
  for (let status = nextStatus(current, [], 0); status !== undefined; status = nextStatus(current, [], 0)) {
    current = { ...current, status };
    seen.push((status.conditions ?? []).map(({ type, status: is, reason }) => `${type}=${is} ${reason}`));
  }
  assert.deepEqual(seen, [
    ["NamesAccepted=True NoConflicts", "Established=False Installing"],
    ["NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted"],
  ]);
});

test("instances go before their definition", () => {
  const leaving = {
    ...crd(names("widgets"), { conditions: [{ type: "Established", status: "True" }] }),
    metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" },
  };
  assert.equal(terminationStep(leaving, 2, 0).kind, "delete instances");
  assert.equal(terminationStep(leaving, 2, 0).status?.conditions?.[1]?.reason, "InstanceDeletionInProgress");
  assert.equal(terminationStep(leaving, 0, 0).kind, "finish");
});

test("numbers are what Go's decoder makes of them", () => {
  const rows: [text: string, printed: string][] = [
    ["1.0", "1"],
    ["1e3", "1000"],
    ["9007199254740993", "9007199254740993"],
    ["9223372036854775808", "9223372036854776000"],
    ["-0.0", "0"],
    ["123456789012345678", "123456789012345678"],
  ];
  for (const [text, printed] of rows) assert.equal(JSON.stringify(normalizeNumbers([rawNumber(text)] as JsonValue)), `[${printed}]`, text);
});

test("stored objects are seen through the schema of today", () => {
  const schema = (properties: JsonObject) => new VersionSchema(() => ({ type: "object", properties: { spec: { type: "object", properties } } }));
  const schemas = new Map([
    ["v1", schema({ a: { type: "string" }, n: { type: "integer", default: 1 } })],
    ["v2", schema({ a: { type: "string" } })],
  ]);
  const codec = (version: string) =>
    new CustomResourceCodec({ gvk: { group: "e.com", version, kind: "W" }, storedVersion: "v1", storagePath: "/e.com/ws/", schemas });
  const stored = (apiVersion: string, spec: JsonObject) =>
    new StoredObject("ns/x", encodeStored({ kind: "W", apiVersion, metadata: { name: "x", uid: "u" }, spec }), 7, 7);
  const rows: [version: string, object: StoredObject, spec: JsonObject, isAsStored: boolean][] = [
    ["v1", stored("e.com/v1", { a: "1", n: 2 }), { a: "1", n: 2 }, true],
    ["v1", stored("e.com/v1", { a: "1", gone: true }), { a: "1", n: 1 }, false],
    ["v2", stored("e.com/v1", { a: "1", n: 2 }), { a: "1" }, false],
  ];
  for (const [version, object, spec, isAsStored] of rows) {
    const reader = codec(version);
    const read = reader.read(object, parseStored(object));
    assert.deepEqual([read.apiVersion, read["spec"], read.metadata.resourceVersion], [`e.com/${version}`, spec, "7"]);
    assert.equal(
      reader.isServedAsStored(object, () => parseStored(object)),
      isAsStored,
    );
  }
  const lost = stored("e.com/v0", {});
  assert.throws(() => codec("v1").read(lost, parseStored(lost)), {
    name: "StatusError",
    message: /object not decodable revision=7: request to convert CR from an invalid group\/version: e\.com\/v0/,
  });
});
