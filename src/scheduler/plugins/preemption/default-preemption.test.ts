import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { clusterOf, decide, listerOf, nodeOf, podOf } from "../../test-support/cluster.ts";
import type { Pod } from "../../../api/core-v1/types.ts";
import type { ClusterObjects } from "../../state/snapshot.ts";

const pod = (name: string, priority: number, cpu: string, more: Partial<Pod["metadata"]> & { startTime?: string } = {}): Pod => {
  const { startTime, ...metadata } = more;
  return { ...podOf(name, { priority, requests: { cpu } }, { labels: { name }, ...metadata }), ...(startTime !== undefined && { status: { startTime } }) };
};
const budget = (name: string, disruptionsAllowed: number) => ({
  metadata: { name, namespace: "default" },
  spec: { selector: { matchLabels: { name } } },
  status: { disruptionsAllowed },
});

const cases: {
  name: string;
  nodes: Record<string, Pod[]>;
  budgets?: ReturnType<typeof budget>[];
  cpu?: string;
  expect: [node: string, ...victims: string[]];
}[] = [
  {
    name: "only as many as needed, the less important",
    nodes: { a: [pod("low", 10, "1"), pod("mid", 20, "1"), pod("high", 30, "2")] },
    expect: ["a", "mid", "low"],
  },
  { name: "the node whose victims are less important", nodes: { a: [pod("x", 20, "4")], b: [pod("y", 10, "4")] }, expect: ["b", "y"] },
  { name: "fewer victims", nodes: { a: [pod("x", 10, "2"), pod("y", 10, "2")], b: [pod("z", 10, "4")] }, expect: ["b", "z"] },
  { name: "the lower sum", nodes: { a: [pod("x", 20, "2"), pod("y", 20, "2")], b: [pod("v", 20, "2"), pod("w", 10, "2")] }, cpu: "4", expect: ["b", "v", "w"] },
  {
    name: "the one that started later",
    nodes: { a: [pod("x", 10, "4", { startTime: "2026-01-01T00:00:00Z" })], b: [pod("y", 10, "4", { startTime: "2026-01-02T00:00:00Z" })] },
    expect: ["b", "y"],
  },
  { name: "no broken budget", nodes: { a: [pod("kept", 10, "4")], b: [pod("x", 20, "4")] }, budgets: [budget("kept", 0)], expect: ["b", "x"] },
  { name: "a broken budget when nothing else helps", nodes: { a: [pod("kept", 10, "4")] }, budgets: [budget("kept", 0)], expect: ["a", "kept"] },
];
for (const { name, nodes, budgets = [], cpu = "2", expect } of cases)
  test(`preemption: ${name}`, () => {
    const objects: Partial<ClusterObjects> = { podDisruptionBudgets: listerOf(...budgets) };
    const state = clusterOf(
      Object.entries(nodes).map(([node, pods]) => [nodeOf(node), ...pods] as const),
      objects,
    );
    const decision = decide(state, pod("p", 100, cpu));
    equal(decision.kind, "unschedulable");
    const { nominatedNodeName, victims } = (decision.kind === "unschedulable" && decision.postFilter) || {};
    deepEqual([nominatedNodeName, ...(victims ?? []).map((victim) => victim.name)], expect);
  });

const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const messages: { name: string; running: Pod; pod: Pod; expect: string }[] = [
  {
    name: "nobody is less important",
    running: pod("x", 100, "4"),
    pod: pod("p", 100, "2"),
    expect: "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
  },
  {
    name: "it would not help",
    running: pod("x", 1, "4"),
    pod: pod("p", 100, "5"),
    expect: "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
  },
  { name: "it would not be enough", running: pod("x", 1, "1"), pod: pod("p", 100, "4"), expect: "preemption: 0/1 nodes are available: 1 Insufficient cpu." },
  {
    name: "not wanted",
    running: pod("x", 1, "4"),
    pod: { ...pod("p", 100, "2"), spec: { ...pod("p", 100, "2").spec, preemptionPolicy: "Never" } },
    expect: "preemption: not eligible due to preemptionPolicy=Never.",
  },
  {
    name: "the last victim is still leaving",
    running: { ...pod("x", 1, "4", leaving), status: { conditions: [{ type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" }] } },
    pod: { ...pod("p", 100, "2"), status: { nominatedNodeName: "a" } },
    expect: "preemption: not eligible due to a terminating pod on the nominated node.",
  },
  {
    name: "found",
    running: pod("x", 1, "4"),
    pod: pod("p", 100, "2"),
    expect: "preemption: found a potential placement for pod on node a, preempting 1 victims",
  },
];
for (const { name, running, pod: wanted, expect } of messages)
  test(`preemption says: ${name}`, () => {
    const others = name === "it would not be enough" ? [pod("important", 1000, "3")] : [];
    const decision = decide(clusterOf([[nodeOf("a"), running, ...others]]), wanted);
    equal(decision.kind === "unschedulable" && decision.postFilter?.message, expect);
  });
