import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { clusterOf, nodeOf, podOf, scoresOf } from "../../test-support/cluster.ts";

const big = (name: string) => nodeOf(name, { allocatable: { cpu: "10", memory: "10Gi", pods: "110" } });

test("balance: a pod that evens out cpu and memory is better than one that does not", () => {
  const state = clusterOf([
    [big("cpu"), podOf("x", { requests: { cpu: "4", memory: "2Gi" } })],
    [big("memory"), podOf("y", { requests: { cpu: "2", memory: "4Gi" } })],
    big("empty"),
  ]);
  deepEqual(scoresOf("NodeResourcesBalancedAllocation", state, podOf("p", { requests: { memory: "2Gi" } })), { cpu: 80, memory: 70, empty: 70 });
});

test("balance: pods that ask for neither are not scored", () => {
  deepEqual(scoresOf("NodeResourcesBalancedAllocation", clusterOf([big("a")]), podOf("p")), undefined);
});
