import { test } from "node:test";
import { equal } from "node:assert/strict";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import { validateAuthorization } from "./validate-configuration.ts";
import type { ConfiguredAuthorizer, ConfiguredWebhook } from "./validate-configuration.ts";

const good = {
  authorizedTTL: "1s",
  unauthorizedTTL: "1s",
  timeout: "3s",
  subjectAccessReviewVersion: "v1",
  matchConditionSubjectAccessReviewVersion: "v1",
  failurePolicy: "Deny",
  connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/kubeconfig" },
};
type Changes = { readonly [Field in keyof ConfiguredWebhook]: ConfiguredWebhook[Field] | undefined };
const webhook = (changes: Changes): ConfiguredAuthorizer => ({ type: "Webhook", name: "w", webhook: { ...good, ...changes } as ConfiguredWebhook });
const condition = (...expressions: string[]) => webhook({ matchConditions: expressions.map((expression) => ({ expression })) });

/** As recorded of kube-apiserver 1.37.2; texts of the compiler stand on one line. */
const table: [say: string, authorizers: ConfiguredAuthorizer[], fault: string][] = [
  ["no authorizers", [], "authorizers: Required value: at least one authorization mode must be defined"],
  ["v1beta1", [{ type: "RBAC", name: "rbac" }], ""],
  ["v1alpha1", [{ type: "RBAC", name: "rbac" }], ""],
  [
    "unknown type",
    [{ type: "Foo", name: "x" }],
    'authorizers[0].type: Unsupported value: "Foo": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"',
  ],
  ["type missing", [{ name: "x" }], "authorizers[0].type: Required value"],
  ["name missing", [{ type: "RBAC" }], "authorizers[0].name: Required value"],
  [
    "name twice",
    [
      { type: "RBAC", name: "a" },
      { type: "Node", name: "a" },
    ],
    'authorizers[1].name: Duplicate value: "a"',
  ],
  [
    "RBAC twice",
    [
      { type: "RBAC", name: "rbac" },
      { type: "RBAC", name: "r2" },
    ],
    'authorizers[1].type: Duplicate value: "RBAC"',
  ],
  [
    "name is no DNS name",
    [{ type: "RBAC", name: "A_B" }],
    "authorizers[0].name: Invalid value: \"A_B\": authorizer name is invalid: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ],
  [
    "RBAC with a webhook",
    [
      {
        type: "RBAC",
        name: "rbac",
        webhook: {
          authorizedTTL: "1s",
          unauthorizedTTL: "1s",
          timeout: "3s",
          subjectAccessReviewVersion: "v1",
          matchConditionSubjectAccessReviewVersion: "v1",
          failurePolicy: "Deny",
          connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/kubeconfig" },
        },
      },
    ],
    'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
  ],
  ["Webhook without one", [{ type: "Webhook", name: "w" }], "authorizers[0].webhook: Required value: required when type=Webhook"],
  ["timeout 0", [webhook({ timeout: "0s" })], "authorizers[0].timeout: Required value"],
  ["timeout 31 s", [webhook({ timeout: "31s" })], 'authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s'],
  ["no timeout", [webhook({ timeout: undefined })], "authorizers[0].timeout: Required value"],
  ["authorizedTTL missing", [webhook({ authorizedTTL: undefined }), { type: "RBAC", name: "rbac" }], ""],
  ["authorizedTTL negative", [webhook({ authorizedTTL: "-1s" })], 'authorizers[0].authorizedTTL: Invalid value: "-1s": must be > 0s'],
  ["authorizedTTL 0", [webhook({ authorizedTTL: "0s" })], ""],
  ["cacheAuthorizedRequests false", [webhook({ cacheAuthorizedRequests: false, cacheUnauthorizedRequests: false }), { type: "RBAC", name: "rbac" }], ""],
  ["no failurePolicy", [webhook({ failurePolicy: undefined })], "authorizers[0].failurePolicy: Required value"],
  [
    "failurePolicy Ignore",
    [webhook({ failurePolicy: "Ignore" })],
    'authorizers[0].failurePolicy: Unsupported value: "Ignore": supported values: "NoOpinion", "Deny"',
  ],
  ["no SAR version", [webhook({ subjectAccessReviewVersion: undefined })], "authorizers[0].subjectAccessReviewVersion: Required value"],
  [
    "SAR version v2",
    [webhook({ subjectAccessReviewVersion: "v2" })],
    'authorizers[0].subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"',
  ],
  ["no match version, no conditions", [webhook({ matchConditionSubjectAccessReviewVersion: undefined }), { type: "RBAC", name: "rbac" }], ""],
  [
    "no match version, conditions",
    [webhook({ matchConditions: [{ expression: "true" }], matchConditionSubjectAccessReviewVersion: undefined })],
    "authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified",
  ],
  [
    "match version v1beta1",
    [webhook({ matchConditionSubjectAccessReviewVersion: "v1beta1" })],
    'authorizers[0].matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1": supported values: "v1"',
  ],
  ["no connection", [webhook({ connectionInfo: {} })], "authorizers[0].connectionInfo.type: Required value"],
  [
    "connection type unknown",
    [webhook({ connectionInfo: { type: "Foo" } })],
    'authorizers[0].connectionInfo.type: Unsupported value: {"Type":"Foo","KubeConfigFile":null}: supported values: "InClusterConfig", "KubeConfigFile"',
  ],
  [
    "relative kubeconfig",
    [webhook({ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "a.yaml" } })],
    'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "a.yaml": must be an absolute path',
  ],
  [
    "kubeconfig missing",
    [webhook({ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/nonexistent" } })],
    'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "/nonexistent": error loading file: stat /nonexistent: no such file or directory',
  ],
  ["kubeconfig not named", [webhook({ connectionInfo: { type: "KubeConfigFile" } })], "authorizers[0].connectionInfo.kubeConfigFile: Required value"],
  [
    "InClusterConfig with a file",
    [webhook({ connectionInfo: { type: "InClusterConfig", kubeConfigFile: "/kubeconfig" } })],
    'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "/kubeconfig": can only be set when type=KubeConfigFile',
  ],
  [
    "condition with a fault of syntax",
    [condition("request.")],
    "authorizers[0].matchConditions[0].expression: Invalid value: \"request.\": compilation failed: ERROR: <input>:1:9: Syntax error: no viable alternative at input '.' | request. | ........^",
  ],
  [
    "condition of type string",
    [condition("'a'")],
    "authorizers[0].matchConditions[0].expression: Invalid value: \"'a'\": must evaluate to bool but got string",
  ],
  ["condition empty", [condition("")], "authorizers[0].matchConditions[0].expression: Required value"],
  ["condition twice", [condition("true", "true")], 'authorizers[0].matchConditions[1].expression: Duplicate value: "true"'],
  [
    "condition with an unknown field",
    [condition("request.foo == 1")],
    "authorizers[0].matchConditions[0].expression: Invalid value: \"request.foo == 1\": compilation failed: ERROR: <input>:1:8: undefined field 'foo' | request.foo == 1 | .......^",
  ],
  ["two webhooks, one name", [webhook({}), webhook({})], 'authorizers[1].name: Duplicate value: "w"'],
  [
    "65 conditions",
    [condition(...Array.from({ length: 65 }, (_, index) => `${index} == 1`))],
    "authorizers[0].matchConditions: Too many: 65: must have at most 64 items",
  ],
];

test("authorization configuration: what is wrong with it", () => {
  const fileFault = (path: string) => (path === "/kubeconfig" ? undefined : `stat ${path}: no such file or directory`);
  for (const [say, authorizers, fault] of table) {
    const faults = validateAuthorization({ authorizers }, fileFault).map(fieldErrorText);
    equal(faults.join(", ").replaceAll("\n", ""), fault.replaceAll("  ", " "), say);
  }
});
