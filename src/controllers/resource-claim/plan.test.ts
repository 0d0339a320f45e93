import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { planClaim } from "./claim-plan.ts";
import { planPod } from "./pod-plan.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { ResourceClaim } from "../../api/resource-v1/types.ts";
import type { Action } from "../../operator/index.ts";

const pod = (phase = "Running"): Pod => ({
  metadata: { name: "p", namespace: "x", uid: "u" },
  spec: { containers: [], nodeName: "n", resourceClaims: [{ name: "dev", resourceClaimTemplateName: "t" }] },
  status: { phase },
});
const owner = [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u", controller: true }];
const claim = (more: Partial<ResourceClaim["metadata"]> = {}, status: ResourceClaim["status"] = {}): ResourceClaim => ({
  metadata: { name: "c", namespace: "x", ...more },
  status,
});
const held = { finalizers: ["resource.kubernetes.io/delete-protection"] };
const used = { allocation: {}, reservedFor: [{ resource: "pods", name: "p", uid: "u" }] };
const only = (found: Pod | undefined) => (name: string) => (name === "p" ? found : undefined);
const template = { metadata: { name: "t" }, spec: { spec: {} } };

const cases: [name: string, actions: readonly Action[], expect: string[]][] = [
  ["a claim from a template", planPod({ pod: pod(), claims: [], templates: new Map([["t", template]]) }).actions, ["create p-dev-"]],
  ["no such template", planPod({ pod: pod(), claims: [], templates: new Map() }).actions, ["FailedResourceClaimCreation"]],
  ["a pod that is done", planPod({ pod: pod("Failed"), claims: [], templates: new Map([["t", template]]) }).actions, []],
  ["in use", planClaim({ claim: claim(held, used), podOf: only(pod()) }).actions, []],
  ["its user is gone", planClaim({ claim: claim(held, used), podOf: only(undefined) }).actions, ["update c"]],
  [
    "its user is another of that name",
    planClaim({ claim: claim(held, used), podOf: only({ ...pod(), metadata: { name: "p", uid: "v" } }) }).actions,
    ["update c"],
  ],
  ["made for a pod that is done", planClaim({ claim: claim({ ownerReferences: owner }), podOf: only(pod("Succeeded")) }).actions, ["delete c"]],
];
for (const [name, actions, expect] of cases) test(`resource claims: ${name}`, () => deepEqual(actions.map(summary), expect));

function summary(action: Action): string {
  if (action.kind === "event") return action.event.reason;
  if (action.kind === "create") return `create ${action.object.metadata.generateName}`;
  return action.kind === "update" ? `update ${action.object.metadata.name}` : `${action.kind} ${"name" in action ? action.name : ""}`;
}
