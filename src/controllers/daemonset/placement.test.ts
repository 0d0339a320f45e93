import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { placeOf, placePods, rollPods } from "./placement.ts";
import type { DaemonSet, RollingUpdateDaemonSet } from "../../api/apps-v1/types.ts";
import type { Node, Pod, Taint } from "../../api/core-v1/types.ts";

const nowMs = Date.UTC(2026, 0, 1);
const set = (rollingUpdate: RollingUpdateDaemonSet = {}): DaemonSet => ({
  metadata: { name: "d", namespace: "x" },
  spec: { template: { spec: { containers: [], nodeSelector: { role: "w" } } }, updateStrategy: { type: "RollingUpdate", rollingUpdate } },
});
const node = (name: string, taints: Taint[] = [], role = "w"): Node => ({ metadata: { name, labels: { role } }, spec: { taints } });
/** `n1:new+` is an up-to-date, available pod on n1; `old-` an old one that is not available; `!` a failed one. */
function podsOn(nodeName: string, text: string): Pod[] {
  return text
    .split(",")
    .filter((one) => one !== "")
    .map((one, index) => ({
      metadata: {
        name: `${nodeName}-${one}`,
        creationTimestamp: `2026-01-01T00:00:0${index}Z`,
        labels: { "controller-revision-hash": one.startsWith("new") ? "h" : "o" },
      },
      spec: { containers: [], nodeName },
      status: {
        phase: one.endsWith("!") ? "Failed" : "Running",
        conditions: one.endsWith("+") ? [{ type: "Ready", status: "True", lastTransitionTime: "2025-01-01T00:00:00Z" }] : [],
      },
    }));
}
const names = (pods: readonly { readonly metadata: { readonly name?: string } }[]) => pods.map(({ metadata }) => metadata.name);

const placing: { name: string; node: Node; pods: string; create: string[]; remove: string[] }[] = [
  { name: "a node without one", node: node("n"), pods: "", create: ["n"], remove: [] },
  { name: "a node with one", node: node("n"), pods: "new+", create: [], remove: [] },
  { name: "a node with two", node: node("n"), pods: "new+,new-", create: [], remove: ["n-new-"] },
  { name: "a node that is not for it", node: node("n", [], "other"), pods: "new+", create: [], remove: ["n-new+"] },
  { name: "a tainted node", node: node("n", [{ key: "k", effect: "NoSchedule" }]), pods: "", create: [], remove: [] },
  { name: "a node tainted later", node: node("n", [{ key: "k", effect: "NoSchedule" }]), pods: "new+", create: [], remove: [] },
  { name: "a node that drives it off", node: node("n", [{ key: "k", effect: "NoExecute" }]), pods: "new+", create: [], remove: ["n-new+"] },
  { name: "a cordoned node", node: node("n", [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }]), pods: "", create: ["n"], remove: [] },
  { name: "a failed pod", node: node("n"), pods: "new!", create: [], remove: ["n-new!"] },
];
for (const { name, node: place, pods, create, remove } of placing) {
  test(`daemon set: ${name}`, () => {
    const context = { set: set(), hash: "h", nowMs };
    const placement = placePods([placeOf(context.set, place, podsOn("n", pods))], context);
    deepEqual([placement.create, names(placement.remove)], [create, remove]);
  });
}

const rolling: { name: string; limits: RollingUpdateDaemonSet; pods: string[]; create: string[]; remove: string[] }[] = [
  { name: "one at a time", limits: { maxUnavailable: 1 }, pods: ["old+", "old+", "old+"], create: [], remove: ["n0-old+"] },
  { name: "not while another is down", limits: { maxUnavailable: 1 }, pods: ["new-", "old+", "old+"], create: [], remove: [] },
  { name: "those that are down anyway", limits: { maxUnavailable: 1 }, pods: ["old-", "old+"], create: [], remove: ["n0-old-"] },
  { name: "half of them", limits: { maxUnavailable: "50%" }, pods: ["old+", "old+", "old+", "old+"], create: [], remove: ["n0-old+", "n1-old+"] },
  { name: "a new one beside the old", limits: { maxSurge: 1, maxUnavailable: 0 }, pods: ["old+", "old+"], create: ["n0"], remove: [] },
  { name: "the old goes once the new is up", limits: { maxSurge: 1, maxUnavailable: 0 }, pods: ["old+,new+", "old+"], create: [], remove: ["n0-old+"] },
];
for (const { name, limits, pods, create, remove } of rolling) {
  test(`daemon set rollout: ${name}`, () => {
    const context = { set: set(limits), hash: "h", nowMs };
    const placement = rollPods(
      pods.map((text, index) => placeOf(context.set, node(`n${index}`), podsOn(`n${index}`, text))),
      context,
    );
    deepEqual([placement.create, names(placement.remove)], [create, remove]);
  });
}
