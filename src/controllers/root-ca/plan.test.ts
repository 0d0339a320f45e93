import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { StatusError } from "../../apimachinery/status.ts";
import { planRootCa } from "./plan.ts";
import type { CreateAction, UpdateAction } from "../../operator/index.ts";
import type { ConfigMap, Namespace } from "../../api/core-v1/types.ts";

const description =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";
const annotations = { "kubernetes.io/description": description };
const active: Namespace = { metadata: { name: "web" }, status: { phase: "Active" } };
const current: ConfigMap = { metadata: { name: "kube-root-ca.crt", namespace: "web", resourceVersion: "7", annotations }, data: { "ca.crt": "PEM" } };

const cases: { name: string; namespace?: Namespace; configMap?: ConfigMap; expect: unknown }[] = [
  { name: "missing", expect: ["create", { metadata: { name: "kube-root-ca.crt", namespace: "web", annotations }, data: { "ca.crt": "PEM" } }] },
  { name: "up to date", configMap: current, expect: undefined },
  { name: "other data", configMap: { ...current, data: { "ca.crt": "x", more: "y" } }, expect: ["update", current] },
  { name: "description dropped", configMap: { ...current, metadata: { ...current.metadata, annotations: {} } }, expect: ["update", current] },
  {
    name: "described otherwise",
    configMap: { ...current, metadata: { ...current.metadata, annotations: { "kubernetes.io/description": "mine" } } },
    expect: undefined,
  },
  { name: "a namespace that is going", namespace: { ...active, status: { phase: "Terminating" } }, expect: undefined },
];

for (const { name, namespace = active, configMap, expect } of cases) {
  test(`root CA: ${name}`, () => {
    const plan = planRootCa({ namespace, configMap, caBundle: "PEM" });
    const action = plan.actions[0] as CreateAction | UpdateAction | undefined;
    deepEqual(action && [action.kind, action.object], expect);
  });
}

const refusals: [name: string, error: StatusError, severity: string][] = [
  ["the namespace is gone", new StatusError({ reason: "NotFound", code: 404 }), "ignore"],
  ["the namespace is going", new StatusError({ reason: "Forbidden", code: 403, details: { causes: [{ reason: "NamespaceTerminating" }] } }), "ignore"],
  ["it exists already", new StatusError({ reason: "AlreadyExists", code: 409 }), "stop"],
];

for (const [name, error, severity] of refusals) {
  test(`root CA: creation refused, ${name}`, () => {
    const action = planRootCa({ namespace: active, configMap: undefined, caBundle: "PEM" }).actions[0] as CreateAction;
    equal(typeof action.onError === "function" && action.onError(error).severity, severity);
  });
}
