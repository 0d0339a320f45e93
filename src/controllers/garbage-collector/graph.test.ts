import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { OwnerGraph } from "./graph.ts";
import type { KubeObject, ObjectMeta } from "../../apimachinery/object.ts";

const object = (uid: string, owners: string[] = [], more: ObjectMeta = {}): KubeObject => ({
  metadata: {
    name: uid,
    namespace: "x",
    uid,
    ownerReferences: owners.map((owner) => ({ apiVersion: "v1", kind: "ConfigMap", name: owner, uid: owner, blockOwnerDeletion: true })),
    ...more,
  },
});
const put = (graph: OwnerGraph, ...objects: KubeObject[]) => objects.map((one) => [...graph.put(resources.configMaps, one).attempts]);
const foreground = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["foregroundDeletion"] };

test("owner graph: a dependent of an unknown owner is looked at, of a known one not", () => {
  const graph = new OwnerGraph();
  deepEqual(put(graph, object("a"), object("b", ["a"]), object("c", ["z"])), [[], [], ["c"]]);
});

test("owner graph: what an owner leaves behind is looked at", () => {
  const graph = new OwnerGraph();
  put(graph, object("a"), object("b", ["a"]), object("c", ["a"]));
  deepEqual([...graph.remove("a").attempts], ["b", "c"]);
  graph.remove("b");
  graph.remove("c");
  equal(graph.size, 0);
});

test("owner graph: an owner that waits is looked at when a dependent goes or no longer blocks", () => {
  const graph = new OwnerGraph();
  put(graph, object("a"), object("b", ["a"]), object("c", ["a"]));
  deepEqual(put(graph, object("a", [], foreground)), [["a", "b", "c"]]);
  deepEqual([...graph.remove("b").attempts], ["a"]);
  deepEqual(put(graph, object("c")), [["a", "c"]]);
});

test("owner graph: an owner of another namespace is told of", () => {
  const graph = new OwnerGraph();
  put(graph, object("a", [], { namespace: "y" }));
  const work = graph.put(resources.configMaps, object("b", ["a"]));
  deepEqual(
    work.invalid.map(({ dependent, reference }) => [dependent.name, reference.name]),
    [["b", "a"]],
  );
  deepEqual([...work.attempts], ["b"]);
});

test("owner graph: orphaning begins once", () => {
  const graph = new OwnerGraph();
  put(graph, object("a"));
  const leaving = object("a", [], { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["orphan"] });
  deepEqual([...graph.put(resources.configMaps, leaving).orphanings], ["a"]);
  deepEqual([...graph.put(resources.configMaps, leaving).orphanings], []);
});
