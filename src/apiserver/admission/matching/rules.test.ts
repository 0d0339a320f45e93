import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { AdmissionRequest } from "../chain.ts";
import { isExempt, matchedDefinition } from "./rules.ts";
import type { ResourceRule } from "./rules.ts";

const definition = (group: string, version: string, resource: string, isNamespaced = true) =>
  ({ group, version, resource, isNamespaced, storage: { prefix: `/registry/${resource}/` } }) as unknown as ResourceDefinition;
const deployments = definition("apps", "v1", "deployments");
const older = definition("apps", "v1beta1", "deployments");
const nodes = definition("", "v1", "nodes", false);
const served = [deployments, older, nodes];

const rule: ResourceRule = { operations: ["CREATE"], apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"] };
const cases: readonly [
  what: string,
  change: ResourceRule,
  asked: { definition?: ResourceDefinition; subresource?: string; operation?: string; name?: string; matchPolicy?: string },
  expected: ResourceDefinition | undefined,
][] = [
  ["as it stands", {}, {}, deployments],
  ["another operation", {}, { operation: "DELETE" }, undefined],
  ["every operation", { operations: ["*"] }, { operation: "DELETE" }, deployments],
  ["a subresource", {}, { subresource: "scale" }, undefined],
  ["a named subresource", { resources: ["deployments/scale"] }, { subresource: "scale" }, deployments],
  ["all subresources, and the resource", { resources: ["deployments/*"] }, {}, deployments],
  ["scales of everything", { resources: ["*/scale"] }, { subresource: "scale" }, deployments],
  ["every resource, no subresource", { resources: ["*"] }, { subresource: "scale" }, undefined],
  ["everything", { resources: ["*/*"] }, { subresource: "scale" }, deployments],
  ["an equivalent version", {}, { definition: older }, deployments],
  ["only the exact version", {}, { definition: older, matchPolicy: "Exact" }, undefined],
  ["the exact version before an equivalent one", { apiVersions: ["*"] }, { definition: older }, older],
  ["a name", { resourceNames: ["a"] }, { name: "a" }, deployments],
  ["another name", { resourceNames: ["a"] }, { name: "b" }, undefined],
  ["scope", { scope: "Cluster" }, {}, undefined],
  ["cluster scope", { apiGroups: [""], resources: ["nodes"], scope: "Cluster" }, { definition: nodes }, nodes],
  ["another group", {}, { definition: nodes }, undefined],
];

test("rules match requests", () => {
  for (const [
    what,
    change,
    { definition: asked = deployments, subresource = "", operation = "CREATE", name = "", matchPolicy = "Equivalent" },
    expected,
  ] of cases) {
    const request = {
      definition: asked,
      subresource,
      operation,
      name,
      namespace: "n",
      context: { server: { resources: served } },
    } as unknown as AdmissionRequest;
    assert.equal(matchedDefinition([{ ...rule, ...change }], request, matchPolicy), expected, what);
  }
});

test("admission does not govern itself", () => {
  for (const [group, resource, expected] of [
    ["admissionregistration.k8s.io", "validatingadmissionpolicies", true],
    ["authorization.k8s.io", "subjectaccessreviews", true],
    ["apps", "deployments", false],
  ] as const) {
    assert.equal(isExempt({ definition: definition(group, "v1", resource) } as AdmissionRequest), expected, resource);
  }
});
