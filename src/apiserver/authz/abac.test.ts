import assert from "node:assert/strict";
import { test } from "node:test";
import { abacAuthorizer } from "./abac.ts";
import type { AuthorizationAttributes } from "./authorizer.ts";

const line = (spec: object) => JSON.stringify({ apiVersion: "abac.authorization.kubernetes.io/v1beta1", kind: "Policy", spec });

test("policies", async () => {
  const authorizer = abacAuthorizer(
    [
      line({ user: "bob", namespace: "ns1", resource: "pods", readonly: true }),
      "# note",
      line({ user: "*", nonResourcePath: "/version", readonly: true }),
      line({ group: "two", user: "gina", namespace: "*", resource: "pods" }),
    ].join("\n"),
  );
  const resource = (username: string, verb: string, namespace: string, groups: string[] = []): AuthorizationAttributes => ({
    kind: "resource",
    user: { username, groups },
    verb,
    group: "",
    version: "v1",
    resource: "pods",
    subresource: "",
    namespace,
    name: "",
  });
  const path = (groups: string[]): AuthorizationAttributes => ({ kind: "path", user: { username: "x", groups }, verb: "get", path: "/version" });
  const table: [asked: AuthorizationAttributes, verdict: string][] = [
    [resource("bob", "list", "ns1"), "allow"],
    [resource("bob", "create", "ns1"), "no-opinion"],
    [resource("bob", "list", "ns2"), "no-opinion"],
    [resource("gina", "create", "ns2"), "no-opinion"],
    [resource("gina", "create", "ns2", ["two"]), "allow"],
    [path(["system:authenticated"]), "allow"],
    [path(["system:unauthenticated"]), "no-opinion"],
  ];
  for (const [asked, verdict] of table) assert.equal((await authorizer.authorize(asked)).verdict, verdict);
  assert.throws(() => abacAuthorizer("{"), /line 1/);
});
