import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { StatusError } from "../../../apimachinery/status.ts";
import type { ResourceType } from "../../../client/index.ts";
import { TestCluster } from "../../../testing/index.ts";

const type = (resource: string, kind: string): ResourceType => ({ group: "admissionregistration.k8s.io", version: "v1", resource, kind, isNamespaced: false });
const validating = {
  policies: type("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
  bindings: type("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
};
const mutating = {
  policies: type("mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
  bindings: type("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
};
const configMaps: ResourceType = { group: "", version: "v1", resource: "configmaps", kind: "ConfigMap", isNamespaced: true };
const matchConstraints = { resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] }] };

const validations: readonly [validation: object, data: Record<string, string>, expected: string, spec?: object][] = [
  [{ expression: "object.data.a == 'x'" }, { a: "x" }, "created"],
  [{ expression: "object.data.a == 'x'" }, { a: "y" }, "422 Invalid failed expression: object.data.a == 'x'"],
  [{ expression: "object.data.a == 'x'", message: "not x", reason: "Forbidden" }, { a: "y" }, "403 Forbidden not x"],
  [{ expression: "object.data.a == 'x'", messageExpression: "'a is ' + object.data.a" }, { a: "y" }, "422 Invalid a is y"],
  [{ expression: "object.data.a == 'x'", messageExpression: "string(1 / 0)", message: "plain" }, { a: "y" }, "422 Invalid plain"],
  [{ expression: "object.data.a == 'x'" }, { b: "y" }, "422 Invalid expression 'object.data.a == 'x'' resulted in error: no such key: a"],
  [{ expression: "object.data.a == 'x'" }, { b: "y" }, "created", { failurePolicy: "Ignore" }],
  [{ expression: "false" }, { b: "y" }, "created", { matchConditions: [{ name: "a", expression: "has(object.data.a)" }] }],
  [
    { expression: "variables.size == 1" },
    { a: "1", b: "2" },
    "422 Invalid failed expression: variables.size == 1",
    { variables: [{ name: "size", expression: "size(object.data)" }] },
  ],
  [{ expression: "authorizer.group('').resource('pods').namespace('default').check('create').allowed()" }, { a: "1" }, "created"],
];

test("validations of a policy", async () => {
  await using cluster = await TestCluster.start();
  const { client } = cluster;
  for (const [validation, data, expected, spec] of validations) {
    await client.create(validating.policies, named("p", { matchConstraints, validations: [validation], ...spec }));
    await client.create(validating.bindings, named("b", { policyName: "p", validationActions: ["Deny"] }));
    const outcome = await client.create(configMaps, configMap(data)).then(
      () => "created",
      (error: unknown) => (error instanceof StatusError ? `${error.code} ${error.reason} ${error.message.replace(/^.*denied request: /, "")}` : String(error)),
    );
    assert.equal(outcome, expected, JSON.stringify([validation, data, spec]));
    await client.delete(validating.bindings, "", "b");
    await client.delete(validating.policies, "", "p");
    await client.delete(configMaps, "default", "c").catch(() => undefined);
  }
});

test("mutations see each other, and a policy that asks for it sees the changes of later ones", async () => {
  await using cluster = await TestCluster.start();
  const { client } = cluster;
  const apply = (expression: string) => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } });
  const patch = (expression: string) => ({ patchType: "JSONPatch", jsonPatch: { expression } });
  const add = async (name: string, reinvocationPolicy: string, ...mutations: object[]) => {
    await client.create(mutating.policies, named(name, { matchConstraints, reinvocationPolicy, mutations }));
    await client.create(mutating.bindings, named(name, { policyName: name }));
  };
  await add(
    "p1",
    "IfNeeded",
    apply("Object{data: {'first': has(object.data.late) ? 'saw late' : 'alone'}}"),
    patch("[JSONPatch{op: 'add', path: '/data/second', value: object.data.first}]"),
  );
  await add("p2", "Never", apply("Object{data: {'late': '1'}}"));
  const made = await client.create(configMaps, configMap({ own: "1" }));
  assert.deepEqual(made["data"], { own: "1", first: "saw late", second: "saw late", late: "1" });
});

function named(name: string, spec: object): KubeObject {
  return { metadata: { name }, spec };
}

function configMap(data: Record<string, string>): KubeObject {
  return { metadata: { name: "c", namespace: "default" }, data };
}
