import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { planClaim } from "./claim-plan.ts";
import { planGroup, planPod } from "./pod-plan.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { ResourceClaim } from "../../api/resource-v1/types.ts";
import type { PodGroup } from "../../api/scheduling-v1beta1/types.ts";
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

const group: PodGroup = {
  metadata: { name: "g", namespace: "x", uid: "gu" },
  spec: { resourceClaims: [{ name: "dev", resourceClaimTemplateName: "t" }] },
  status: { resourceClaimStatuses: [{ name: "dev", resourceClaimName: "shared" }] },
};
const ofGroup = { allocation: {}, reservedFor: [{ apiGroup: "scheduling.k8s.io", resource: "podgroups", name: "g", uid: "gu" }] };
const groupOwner = [{ apiVersion: "scheduling.k8s.io/v1beta1", kind: "PodGroup", name: "g", uid: "gu", controller: true }];
const isUsing = (answer: boolean) => (name: string, uid: string) => answer && name === "g" && uid === "gu";

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
  ["a claim for a group", planGroup({ group, claims: [], templates: new Map([["t", template]]) }).actions, ["create g-dev-"]],
  [
    "the group has it",
    planGroup({ group, claims: [claim({ name: "shared", ownerReferences: groupOwner })], templates: new Map([["t", template]]) }).actions,
    [],
  ],
  ["a pod that shares its group's claim", planPod({ pod: pod(), claims: [], templates: new Map([["t", template]]), group }).actions, []],
  ["a group uses it", planClaim({ claim: claim(held, ofGroup), podOf: only(undefined), isGroupUsing: isUsing(true) }).actions, []],
  ["the group is done", planClaim({ claim: claim(held, ofGroup), podOf: only(undefined), isGroupUsing: isUsing(false) }).actions, ["update c"]],
  ["made for a pod that is done", planClaim({ claim: claim({ ownerReferences: owner }), podOf: only(pod("Succeeded")) }).actions, ["delete c"]],
];
for (const [name, actions, expect] of cases) test(`resource claims: ${name}`, () => deepEqual(actions.map(summary), expect));

function summary(action: Action): string {
  if (action.kind === "event") return action.event.reason;
  if (action.kind === "create") return `create ${action.object.metadata.generateName}`;
  return action.kind === "update" ? `update ${action.object.metadata.name}` : `${action.kind} ${"name" in action ? action.name : ""}`;
}

test("resource claims: a pod's status names the claim of its group", () => {
  const { next } = planPod({ pod: pod(), claims: [], templates: new Map(), group });
  const [patch] = next!({ results: [] } as never).actions;
  deepEqual(patch?.kind === "patch" && (patch.patch.body as { status: unknown }).status, {
    resourceClaimStatuses: [{ name: "dev", resourceClaimName: "shared" }],
  });
});
