import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { clusterOf, nodeOf, pluginOf, podOf, scoresOf, verdicts } from "../../test-support/cluster.ts";
import { podInfoOf } from "../../state/pod-info.ts";
import type { Pod } from "../../../api/core-v1/types.ts";

const half = podOf("x", { requests: { cpu: "2", memory: "4Gi" } });
const small = { allocatable: { cpu: "4", memory: "8Gi", pods: "2", "example.com/gpu": "1" } };
const cases: { name: string; pod: Pod; expect: string }[] = [
  { name: "exactly fits", pod: podOf("p", { requests: { cpu: "2", memory: "4Gi" } }), expect: "fits" },
  { name: "a millicore too much", pod: podOf("p", { requests: { cpu: "2001m" } }), expect: "unschedulable: Insufficient cpu" },
  { name: "more than the node has", pod: podOf("p", { requests: { cpu: "5" } }), expect: "unresolvable: Insufficient cpu" },
  { name: "several reasons", pod: podOf("p", { requests: { cpu: "3", memory: "5Gi" } }), expect: "unschedulable: Insufficient cpu, Insufficient memory" },
  { name: "extended resource", pod: podOf("p", { requests: { "example.com/gpu": "2" } }), expect: "unresolvable: Insufficient example.com/gpu" },
  { name: "unknown resource", pod: podOf("p", { requests: { "example.com/tpu": "1" } }), expect: "unresolvable: Insufficient example.com/tpu" },
  { name: "asks for nothing", pod: podOf("p"), expect: "fits" },
];
for (const { name, pod, expect } of cases)
  test(`resources: ${name}`, () => deepEqual(verdicts("NodeResourcesFit", clusterOf([[nodeOf("a", small), half]]), pod), { a: expect }));

test("resources: too many pods", () => {
  deepEqual(verdicts("NodeResourcesFit", clusterOf([[nodeOf("a", small), podOf("x"), podOf("y")]]), podOf("p")), { a: "unschedulable: Too many pods" });
});

test("resources: least allocated, with defaults for pods that ask for nothing", () => {
  const state = clusterOf([nodeOf("a"), [nodeOf("b"), half], nodeOf("c", { allocatable: { cpu: "1", memory: "1Gi", pods: "110" } })]);
  deepEqual(scoresOf("NodeResourcesFit", state, podOf("p", { requests: { cpu: "1", memory: "2Gi" } })), { a: 75, b: 25, c: 0 });
  deepEqual(scoresOf("NodeResourcesFit", state, podOf("p")), { a: 97, b: 47, c: 85 });
});

const strategies: { type: string; requestedToCapacityRatio?: unknown; expect: Record<string, number> }[] = [
  { type: "MostAllocated", expect: { a: 25, b: 75 } },
  {
    type: "RequestedToCapacityRatio",
    requestedToCapacityRatio: {
      shape: [
        { utilization: 0, score: 0 },
        { utilization: 100, score: 10 },
      ],
    },
    expect: { a: 25, b: 75 },
  },
];
for (const { expect, ...strategy } of strategies)
  test(`resources: ${strategy.type}`, () => {
    const scoringStrategy = {
      ...strategy,
      resources: [
        { name: "cpu", weight: 1 },
        { name: "memory", weight: 1 },
      ],
    };
    const configuration = { profiles: [{ pluginConfig: [{ name: "NodeResourcesFit", args: { scoringStrategy } }] }] };
    deepEqual(
      scoresOf("NodeResourcesFit", clusterOf([nodeOf("a"), [nodeOf("b"), half]]), podOf("p", { requests: { cpu: "1", memory: "2Gi" } }), configuration),
      expect,
    );
  });

test("resources: a node helps when it grows in what the pod asks for", () => {
  const hint = pluginOf("NodeResourcesFit", clusterOf([])).events!.find(({ resource }) => resource === "Node")!;
  const pod = podInfoOf(podOf("p", { requests: { cpu: "6" } }));
  const sized = (cpu: string, memory = "8Gi") => nodeOf("a", { allocatable: { cpu, memory, pods: "110" } });
  const helps = (old: ReturnType<typeof nodeOf> | undefined, current: ReturnType<typeof nodeOf>) =>
    hint.helps!(pod, { resource: "Node", action: "Add", old, current });
  equal(helps(undefined, sized("4")), false);
  equal(helps(undefined, sized("8")), true);
  equal(helps(sized("4"), sized("8")), true);
  equal(helps(sized("8"), sized("8", "16Gi")), false);
});
