import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import type { KubeObject } from "../../apimachinery/object.ts";
import { follow } from "./follow.ts";
import { ResourceCache } from "./resource-cache.ts";
import { ParsedPool, encodeStored } from "./stored-object.ts";

test("follow: an index is read as a whole once, then kept by events, and again after a load", () => {
  const cache = new ResourceCache("/registry/pods/", { pool: new ParsedPool(10), windowLimit: 10 });
  const put = (key: string, revision: number) =>
    cache.apply(key, encodeStored({ kind: "Pod", apiVersion: "v1", metadata: { name: key } } as KubeObject), revision, revision);
  const seen: string[] = [];
  const refresh = follow(cache, {
    reset: (objects) => seen.push(`all: ${[...objects].map(({ key }) => key).join(" ")}`),
    apply: ({ type, object }) => seen.push(`${type} ${object.key}`),
  });
  put("a", 1);
  refresh();
  refresh();
  put("b", 2);
  cache.load(
    [...cache.state.entries()].map(([, stored]) => stored),
    2,
  );
  put("c", 3);
  refresh();
  deepEqual(seen, ["all: a", "ADDED b", "all: a b c"]);
});
