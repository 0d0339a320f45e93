import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { clusterOf, nodeOf, podOf } from "../test-support/cluster.ts";
import { podInfoOf } from "./pod-info.ts";

const info = (name: string) => podInfoOf(podOf(name, { requests: { cpu: "1" } }));
const podsOn = (state: ReturnType<typeof clusterOf>, node: string) => state.node(node)?.pods.map(({ name }) => name);

test("an assumed pod is forgotten when its binding fails, and confirmed when the API says so", () => {
  const state = clusterOf([nodeOf("a"), nodeOf("b")]);
  state.assume(info("p"), "a");
  equal(state.node("a")?.requested.milliCpu, 1000);
  state.forget("uid-p");
  deepEqual(podsOn(state, "a"), []);
  state.assume(info("p"), "a");
  state.putPod(info("p"), "b");
  state.forget("uid-p");
  deepEqual([podsOn(state, "a"), podsOn(state, "b")], [[], ["p"]]);
});

test("pods wait for a node that is not known yet, and for one that comes back", () => {
  const state = clusterOf([]);
  state.putPod(info("p"), "a");
  state.putNode(nodeOf("a"));
  deepEqual(podsOn(state, "a"), ["p"]);
  state.removeNode("a");
  equal(state.node("a"), undefined);
  state.putNode(nodeOf("a"));
  deepEqual(podsOn(state, "a"), ["p"]);
});

test("nodes are in order of zones, by turns", () => {
  const inZone = (name: string, zone: string) => nodeOf(name, { labels: { "topology.kubernetes.io/zone": zone } });
  const state = clusterOf([inZone("a1", "a"), inZone("a2", "a"), inZone("a3", "a"), inZone("b1", "b")]);
  deepEqual(
    state.nodes.map(({ name }) => name),
    ["a1", "b1", "a2", "a3"],
  );
  state.removeNode("a1");
  deepEqual(
    state.nodes.map(({ name }) => name),
    ["b1", "a2", "a3"],
  );
  equal(state.node("a3")?.name, "a3");
});

test("counts of pods follow what comes and goes", () => {
  const state = clusterOf([nodeOf("a"), nodeOf("b")]);
  const counts = () => Object.fromEntries(state.podCounts({ key: "all", isMember: () => true }).byNode);
  deepEqual(counts(), {});
  state.putPod(info("p"), "a");
  state.putPod(info("q"), "a");
  state.putPod(info("q"), "b");
  deepEqual(counts(), { a: 1, b: 1 });
  state.removeNode("b");
  deepEqual(counts(), { a: 1 });
  state.removePod("uid-p");
  deepEqual(counts(), {});
  state.putNode(nodeOf("b"));
  deepEqual(counts(), { b: 1 });
});
