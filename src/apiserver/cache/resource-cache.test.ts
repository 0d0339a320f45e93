import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ResourceCache } from "./resource-cache.ts";
import { ParsedPool, StoredObject, encodeStored } from "./stored-object.ts";

const bytes = (name: string) => encodeStored({ kind: "Pod", apiVersion: "v1", metadata: { name } } as KubeObject);
const make = (windowLimit = 100) => new ResourceCache("/registry/pods/", { pool: new ParsedPool(10), windowLimit });
const put = (cache: ResourceCache, key: string, revision: number) => cache.apply(key, bytes(key), revision, revision);
const keysAt = (cache: ResourceCache, revision: number) => {
  const state = cache.stateAt(revision);
  return state === undefined ? "gone" : [...state.entries()].map(([key]) => key).join(" ");
};

test("resource cache: events, and the state after each", () => {
  const cache = make();
  const heard: string[] = [];
  const unlisten = cache.listen(({ type, revision, object }) => heard.push(`${type} ${object.key} ${revision} ${object.revision}`));
  cache.load([new StoredObject("a", bytes("a"), 3, 3)], 5);
  put(cache, "b", 6);
  put(cache, "a", 8);
  cache.apply("b", undefined, 9, 6);
  equal(cache.apply("c", undefined, 10, 0), undefined);
  unlisten();
  put(cache, "d", 11);
  deepEqual(heard, ["ADDED b 6 6", "MODIFIED a 8 8", "DELETED b 9 9"]);
  equal(cache.listenerCount, 0);
  deepEqual(
    [4, 5, 6, 7, 8, 9, 10, 11, 99].map((revision) => keysAt(cache, revision)),
    ["gone", "a", "a b", "a b", "a b", "a", "a", "a d", "a d"],
  );
  deepEqual(cache.eventsAfter(4), undefined);
  deepEqual(
    cache.eventsAfter(6)?.map(({ revision }) => revision),
    [8, 9, 11],
  );
  deepEqual(cache.eventsAfter(11), []);
});

test("resource cache: a full window loses its older half, and nothing of what it still covers", () => {
  const limit = 10;
  const cache = make(limit);
  cache.load([], 0);
  for (let revision = 1; revision <= 37; revision++) {
    put(cache, `k${revision}`, revision);
    const oldest = cache.oldestRevision;
    const events = cache.eventsAfter(oldest)!;
    equal(events.length, revision - oldest);
    equal(events.length <= limit && (oldest === 0 || events.length >= limit / 2), true);
    equal(cache.eventsAfter(oldest - 1), undefined);
    for (let at = oldest; at <= revision; at++) equal(cache.stateAt(at)!.size, at);
    equal(cache.stateAt(oldest - 1), undefined);
  }
});

test("resource cache: what comes in while the content is read stays", () => {
  const cache = make();
  put(cache, "a", 3);
  put(cache, "b", 7);
  cache.load([new StoredObject("a", bytes("a"), 3, 3)], 5);
  equal(keysAt(cache, 5), "a");
  equal(keysAt(cache, 7), "a b");
  equal(cache.loadCount, 1);
});
