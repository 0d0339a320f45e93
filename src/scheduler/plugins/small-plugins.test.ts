import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { podInfoOf } from "../state/pod-info.ts";
import { clusterOf, nodeOf, pluginOf, podOf, verdicts } from "../test-support/cluster.ts";
import type { Pod } from "../../api/core-v1/types.ts";

const cordoned = nodeOf("a", { unschedulable: true });
const restartsAll = podOf("p", {
  containers: [
    { name: "c", image: "img", restartPolicy: "Never", restartPolicyRules: [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [42] } }] },
  ],
});
const cases: { plugin: string; name: string; node: ReturnType<typeof nodeOf>; pod: Pod; expect: string }[] = [
  { plugin: "NodeName", name: "its node", node: nodeOf("a"), pod: podOf("p", { nodeName: "a" }), expect: "fits" },
  {
    plugin: "NodeName",
    name: "another",
    node: nodeOf("a"),
    pod: podOf("p", { nodeName: "b" }),
    expect: "unresolvable: node(s) didn't match the requested node name",
  },
  { plugin: "NodeUnschedulable", name: "cordoned", node: cordoned, pod: podOf("p"), expect: "unresolvable: node(s) were unschedulable" },
  {
    plugin: "NodeUnschedulable",
    name: "tolerated",
    node: cordoned,
    pod: podOf("p", { tolerations: [{ key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" }] }),
    expect: "fits",
  },
  {
    plugin: "NodeDeclaredFeatures",
    name: "not declared",
    node: nodeOf("a"),
    pod: restartsAll,
    expect: "unresolvable: node(s) didn't match Pod's required features",
  },
  {
    plugin: "NodeDeclaredFeatures",
    name: "declared",
    node: nodeOf("a", { declaredFeatures: ["RestartAllContainersOnContainerExits"] }),
    pod: restartsAll,
    expect: "fits",
  },
];
for (const { plugin, name, node, pod, expect } of cases) test(`${plugin}: ${name}`, () => deepEqual(verdicts(plugin, clusterOf([node]), pod), { a: expect }));

test("SchedulingGates: a pod with gates is not queued", () => {
  const plugin = pluginOf("SchedulingGates", clusterOf([]));
  deepEqual(plugin.preEnqueue!(podInfoOf(podOf("p", { schedulingGates: [{ name: "g" }, { name: "h" }] })))?.reasons, ["waiting for scheduling gates: [g h]"]);
  equal(plugin.preEnqueue!(podInfoOf(podOf("p"))), undefined);
});

test("PrioritySort: the more important pod first, then the one that waits longer", () => {
  const compare = pluginOf("PrioritySort", clusterOf([])).compare!;
  const queued = (priority: number, queuedAtMs: number) => ({ pod: podOf("p"), priority, queuedAtMs });
  ok(compare(queued(10, 2), queued(5, 1)) < 0);
  ok(compare(queued(5, 1), queued(5, 2)) < 0);
});
