import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import { parseRequestInfo } from "../http/request-info.ts";
import { judge, readPolicy } from "./policy.ts";
import type { AuditRule } from "./policy.ts";

const jane = { username: "jane", groups: ["dev", "system:authenticated"] };
const info = (method: string, path: string) => parseRequestInfo(method, path, new URLSearchParams());

test("audit policy: what a rule is for", () => {
  const table: [rule: Partial<AuditRule>, method: string, path: string, isFor: boolean][] = [
    [{}, "GET", "/version", true],
    [{ users: ["jane"] }, "GET", "/version", true],
    [{ users: ["joe"] }, "GET", "/version", false],
    [{ userGroups: ["ops", "dev"] }, "GET", "/version", true],
    [{ userGroups: ["ops"] }, "GET", "/version", false],
    [{ verbs: ["list"] }, "GET", "/api/v1/pods", true],
    [{ verbs: ["get"] }, "GET", "/api/v1/pods", false],
    [{ namespaces: ["a"] }, "GET", "/api/v1/namespaces/a/pods", true],
    [{ namespaces: [""] }, "GET", "/api/v1/nodes", true],
    [{ namespaces: ["a"] }, "GET", "/version", false],
    [{ resources: [{ group: "" }] }, "GET", "/api/v1/namespaces/a/pods/p/log", true],
    [{ resources: [{ group: "apps" }] }, "GET", "/api/v1/pods", false],
    [{ resources: [{ group: "*" }] }, "GET", "/apis/apps/v1/deployments", true],
    [{ resources: [{ resources: ["pods"] }] }, "GET", "/api/v1/namespaces/a/pods/p", true],
    [{ resources: [{ resources: ["pods"] }] }, "GET", "/api/v1/namespaces/a/pods/p/log", false],
    [{ resources: [{ resources: ["pods/*"] }] }, "GET", "/api/v1/namespaces/a/pods/p/log", true],
    [{ resources: [{ resources: ["pods/*"] }] }, "GET", "/api/v1/namespaces/a/pods/p", false],
    [{ resources: [{ resources: ["*/log"] }] }, "GET", "/api/v1/namespaces/a/pods/p/log", true],
    [{ resources: [{ resources: ["*"] }] }, "GET", "/api/v1/namespaces/a/pods/p/log", true],
    [{ resources: [{ resources: ["pods"], resourceNames: ["p"] }] }, "GET", "/api/v1/namespaces/a/pods/p", true],
    [{ resources: [{ resources: ["pods"], resourceNames: ["p"] }] }, "GET", "/api/v1/namespaces/a/pods/q", false],
    [{ nonResourceURLs: ["/healthz*"] }, "GET", "/healthz/etcd", true],
    [{ nonResourceURLs: ["/healthz"] }, "GET", "/healthz/etcd", false],
    [{ nonResourceURLs: ["*"] }, "GET", "/api/v1/pods", false],
  ];
  for (const [rule, method, path, isFor] of table)
    equal(judge({ rules: [{ level: "Metadata", ...rule }] }, jane, info(method, path)).level === "Metadata", isFor, `${JSON.stringify(rule)} ${path}`);
});

test("audit policy: the first rule counts, and stages add up", () => {
  const policy = {
    omitStages: ["RequestReceived" as const],
    omitManagedFields: true,
    rules: [
      { level: "None" as const, users: ["joe"] },
      { level: "Request" as const, omitStages: ["Panic" as const], omitManagedFields: false },
    ],
  };
  deepEqual(judge(policy, jane, info("GET", "/")), { level: "Request", omitStages: new Set(["RequestReceived", "Panic"]), omitsManagedFields: false });
  equal(judge(policy, undefined, info("GET", "/")).level, "Request");
  equal(judge({ rules: [] }, jane, info("GET", "/")).level, "None");
});

test("audit policy: what is refused", () => {
  const rule = (part: object) => ({ kind: "Policy", apiVersion: "audit.k8s.io/v1", rules: [{ level: "Metadata", ...part }] });
  const table: [document: unknown, text: RegExp][] = [
    [{ kind: "Policy", apiVersion: "audit.k8s.io/v1", rules: [] }, /^loaded illegal policy with 0 rules from file f$/],
    [{ kind: "Policy", apiVersion: "audit.k8s.io/v1beta1" }, /no kind "Policy" is registered for version "audit.k8s.io\/v1beta1"/],
    [rule({ level: "All" }), /^rules\[0\]\.level: Unsupported value: "All": supported values: /],
    [
      rule({ nonResourceURLs: ["healthz"] }),
      /^rules\[0\]\.nonResourceURLs\[0\]: Invalid value: "healthz": non-resource URL rules must begin with a '\/' character$/,
    ],
    [rule({ nonResourceURLs: ["/a*/b"] }), /non-resource URL wildcards '\*' must be the final character of the rule$/],
    [rule({ nonResourceURLs: ["/a"], namespaces: ["b"] }), /rules cannot apply to both regular resources and non-resource URLs$/],
    [rule({ resources: [{ resourceNames: ["a"] }] }), /using resourceNames requires at least one resource$/],
    [
      rule({ omitStages: ["Never"] }),
      /^rules\[0\]\.omitStages\[0\]: Invalid value: "Never": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic$/,
    ],
  ];
  for (const [document, text] of table) throws(() => readPolicy(document, "f"), { message: text });
});
