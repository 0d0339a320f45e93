import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ParsedPool, StoredObject, encodeStored, parseStored } from "./stored-object.ts";

const stored = (object: object, revision = 42) => new StoredObject("k", encodeStored(object as KubeObject), revision, 1);
const pod = (metadata: object) => ({ kind: "Pod", apiVersion: "v1", metadata, spec: { nodeName: "n" } });

test("stored objects: the version stands in the metadata, whatever else does", () => {
  const metadatas: object[] = [
    { name: "web", namespace: "a", uid: "u" },
    { name: "web", uid: "u", labels: { a: "b" } },
    {},
    { name: "web" },
    { name: 'a"uid":"b', uid: "u" },
    { name: "metadata", generateName: '"metadata":{', uid: "u" },
    { name: "ü".repeat(126), generateName: "ü".repeat(126), namespace: "a", uid: "u" },
    // Of another writer, without a uid of its own.
    { name: "web", labels: { uid: "x" } },
    { name: "web", annotations: { uid: "x" } },
    { name: "web", ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "o" }] },
    { labels: { metadata: "x" } },
  ];
  for (const metadata of metadatas) {
    const object = stored(pod(metadata));
    const expected = { ...pod({ ...metadata, resourceVersion: "42" }) };
    const about = JSON.stringify(metadata);
    deepEqual(JSON.parse(object.toJson().toString()), expected, about);
    const line = object.toJsonLine().toString();
    ok(line.endsWith("}\n"), about);
    deepEqual(JSON.parse(line), expected, about);
    deepEqual(parseStored(object), expected, about);
    const { kind: _k, apiVersion: _a, ...bare } = expected;
    for (const [isBare, item] of [
      [true, bare],
      [false, expected],
    ] as const) {
      const target = Buffer.alloc(object.itemBytesAtMost + 3, "#");
      const end = object.writeItem(target, 2, isBare);
      ok(end - 2 <= object.itemBytesAtMost, about);
      deepEqual(JSON.parse(target.toString("utf8", 2, end)), item, about);
    }
  }
});

test("stored objects: an object without anything but its spec's uid", () => {
  const object = stored({ kind: "Pod", apiVersion: "v1", metadata: { name: "a" }, spec: { claimRef: { uid: "x" } } });
  deepEqual(JSON.parse(object.toJson().toString()), {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name: "a", resourceVersion: "42" },
    spec: { claimRef: { uid: "x" } },
  });
});

test("stored objects: the same content under another revision", () => {
  const object = stored(pod({ name: "web", uid: "u" }));
  equal((JSON.parse(object.at(9_007_199_254_740_991).toJson().toString()) as KubeObject).metadata.resourceVersion, "9007199254740991");
  equal((JSON.parse(object.toJson().toString()) as KubeObject).metadata.resourceVersion, "42");
});

test("stored objects: numbers come back as they were written", () => {
  for (const text of ["1.0", "12345678901234567890", "1e3", "0.1", "-3"]) {
    const bytes = Buffer.from(`{"kind":"X","apiVersion":"x/v1","metadata":{"name":"a"},"spec":{"n":${text}}}`);
    equal(JSON.stringify(parseStored(new StoredObject("a", bytes, 1, 1))["spec"]), `{"n":${text}}`);
  }
});

test("stored objects: the pool keeps as many parsed forms as it may", () => {
  const pool = new ParsedPool(2);
  const objects = [1, 2, 3].map((revision) => stored(pod({ name: "a", uid: "u" }), revision));
  const first = pool.parse(objects[0]!);
  equal(pool.parse(objects[0]!), first);
  for (const object of objects) pool.parse(object);
  deepEqual(
    objects.map((object) => object.parsed !== undefined),
    [false, true, true],
  );
});
