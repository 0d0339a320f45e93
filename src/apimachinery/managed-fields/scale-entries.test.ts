import assert from "node:assert/strict";
import { it } from "node:test";
import type { ManagedFieldsEntry } from "../object.ts";
import { keepTimes } from "./entries.ts";
import { parentEntriesAfterScale, scaleEntries } from "./scale-entries.ts";

const paths = new Map([["apps/v1", "spec.replicas"]]);
const entry = (manager: string, fieldsV1: ManagedFieldsEntry["fieldsV1"], more: ManagedFieldsEntry = {}): ManagedFieldsEntry => ({
  manager,
  operation: "Update",
  apiVersion: "apps/v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1: fieldsV1!,
  ...more,
});
const replicas = { "f:spec": { "f:replicas": {} } };
const both = { "f:spec": { "f:paused": {}, "f:replicas": {} } };
const parent = [entry("creator", both)];

it("the Scale shows who owns the replicas", () => {
  assert.deepEqual(scaleEntries([...parent, entry("other", { "f:spec": { "f:paused": {} } })], paths), [
    entry("creator", replicas, { apiVersion: "autoscaling/v1" }),
  ]);
});

it("who scales takes the replicas from the parent's owner", () => {
  const written = [entry("scaler", replicas, { apiVersion: "autoscaling/v1", subresource: "scale" })];
  const { time: _, ...untimed } = entry("scaler", replicas, { subresource: "scale" });
  assert.deepEqual(parentEntriesAfterScale({ parentEntries: parent, written, paths, apiVersion: "apps/v1" }), [
    untimed,
    entry("creator", { "f:spec": { "f:paused": {} } }),
  ]);
});

it("an applier that still owns them keeps its entry", () => {
  const parentEntries = [entry("applier", both, { operation: "Apply" })];
  const written = scaleEntries(parentEntries, paths);
  assert.deepEqual(parentEntriesAfterScale({ parentEntries, written, paths, apiVersion: "apps/v1" }), parentEntries);
});

it("a write that changes nothing but times keeps the old ones", () => {
  const later = [entry("creator", both, { time: "2026-01-02T00:00:00Z" })];
  assert.equal(
    keepTimes(parent, later, () => true),
    parent,
  );
  assert.equal(
    keepTimes(parent, later, () => false),
    later,
  );
  assert.equal(keepTimes(parent, [entry("creator", replicas)], () => true).length, 1);
});
