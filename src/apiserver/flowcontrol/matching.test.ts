import { test } from "node:test";
import { equal } from "node:assert/strict";
import type { FlowSchema } from "../../api/flowcontrol-v1/types.ts";
import { parseRequestInfo } from "../http/request-info.ts";
import { SchemaMatcher } from "./matching.ts";

const everything = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true };
const anyone = [{ kind: "Group", group: { name: "*" } }];
const schema = (subjects: object[], rules: object): FlowSchema =>
  ({
    kind: "FlowSchema",
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    metadata: { name: "x" },
    spec: { rules: [{ subjects, ...rules }] },
  }) as unknown as FlowSchema;
const schemaMatches = (made: FlowSchema, user: typeof account, asked: ReturnType<typeof info>) => new SchemaMatcher(made).matches(user, asked);
const info = (method: string, path: string) => parseRequestInfo(method, path, new URLSearchParams());
const account = { username: "system:serviceaccount:a:robot", groups: ["system:serviceaccounts"] };

test("flow schemas: subjects", () => {
  const table: [subject: object, expected: boolean][] = [
    [{ kind: "User", user: { name: "*" } }, true],
    [{ kind: "User", user: { name: account.username } }, true],
    [{ kind: "User", user: { name: "robot" } }, false],
    [{ kind: "Group", group: { name: "system:serviceaccounts" } }, true],
    [{ kind: "Group", group: { name: "system:nodes" } }, false],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "a", name: "*" } }, true],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "a", name: "robot" } }, true],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "b", name: "*" } }, false],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "a", name: "rob" } }, false],
    [{ kind: "Nobody" }, false],
  ];
  for (const [subject, expected] of table)
    equal(schemaMatches(schema([subject], { resourceRules: [everything] }), account, info("GET", "/api/v1/pods")), expected, JSON.stringify(subject));
});

test("flow schemas: rules for resources", () => {
  const table: [rule: object, method: string, path: string, expected: boolean][] = [
    [{}, "GET", "/api/v1/namespaces/a/pods", true],
    [{ verbs: ["list"] }, "GET", "/api/v1/namespaces/a/pods", true],
    [{ verbs: ["get"] }, "GET", "/api/v1/namespaces/a/pods", false],
    [{ apiGroups: [""] }, "GET", "/api/v1/namespaces/a/pods", true],
    [{ apiGroups: [""] }, "GET", "/apis/apps/v1/namespaces/a/deployments", false],
    [{ resources: ["pods"] }, "GET", "/api/v1/namespaces/a/pods/web/status", false],
    [{ resources: ["pods/status"] }, "GET", "/api/v1/namespaces/a/pods/web/status", true],
    [{ namespaces: ["b"] }, "GET", "/api/v1/namespaces/a/pods", false],
    [{ namespaces: [] }, "GET", "/api/v1/nodes", true],
    [{ clusterScope: false }, "GET", "/api/v1/nodes", false],
    [{ clusterScope: false }, "GET", "/api/v1/pods", false],
    [{}, "GET", "/healthz", false],
  ];
  for (const [rule, method, path, expected] of table)
    equal(
      schemaMatches(schema(anyone, { resourceRules: [{ ...everything, ...rule }] }), account, info(method, path)),
      expected,
      `${JSON.stringify(rule)} ${path}`,
    );
});

test("flow schemas: rules for other paths", () => {
  const table: [urls: string[], verbs: string[], path: string, expected: boolean][] = [
    [["*"], ["*"], "/metrics", true],
    [["/healthz"], ["get"], "/healthz", true],
    [["/healthz"], ["post"], "/healthz", false],
    [["/healthz"], ["*"], "/healthz/etcd", false],
    [["/healthz/*"], ["*"], "/healthz/etcd", true],
    [["/healthz/*"], ["*"], "/healthz", false],
    [["*"], ["*"], "/api/v1/pods", false],
  ];
  for (const [nonResourceURLs, verbs, path, expected] of table)
    equal(
      schemaMatches(schema(anyone, { nonResourceRules: [{ nonResourceURLs, verbs }] }), account, info("GET", path)),
      expected,
      `${nonResourceURLs.join()} ${path}`,
    );
});
