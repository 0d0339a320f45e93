import assert from "node:assert/strict";
import { test } from "node:test";
import { impersonationModes } from "../authz/impersonation-modes.ts";
import type { AuthorizationAttributes } from "../authz/authorizer.ts";
import { impersonatedUser, wantedUser } from "./impersonation.ts";

test("who is wanted", () => {
  const table: [headers: Record<string, string>, groups: string[] | string][] = [
    [{ "impersonate-user": "a" }, ["system:authenticated"]],
    [{ "impersonate-user": "a", "impersonate-group": "g\nh" }, ["g", "h", "system:authenticated"]],
    [{ "impersonate-user": "a", "impersonate-group": "system:unauthenticated" }, ["system:unauthenticated"]],
    [{ "impersonate-user": "system:anonymous" }, ["system:unauthenticated"]],
    [{ "impersonate-user": "system:serviceaccount:n:s" }, ["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"]],
    [
      { "impersonate-group": "g" },
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)} without impersonating a user name',
    ],
  ];
  for (const [headers, expected] of table) {
    if (typeof expected === "string") assert.throws(() => wantedUser(headers), { message: expected });
    else assert.deepEqual(impersonatedUser(wantedUser(headers)!).groups, expected);
  }
  assert.equal(wantedUser({ "impersonate-user": "" }), undefined);
  assert.deepEqual(impersonatedUser(wantedUser({ "impersonate-user": "a", "impersonate-extra-a%zz": "V" })!).extra, { "a%zz": ["V"] });
});

test("the rights that each way takes", () => {
  const user = { username: "caller", groups: [] };
  const request: AuthorizationAttributes = { kind: "path", user, verb: "get", path: "/x" };
  const verbs = (headers: Record<string, string>) =>
    Object.fromEntries(impersonationModes.map((mode) => [mode.name, mode.checks(user, wantedUser(headers)!, request)?.map(({ verb }) => verb)]));
  assert.deepEqual(verbs({ "impersonate-user": "a", "impersonate-group": "g" }), {
    "associated-node": undefined,
    "arbitrary-node": undefined,
    serviceaccount: undefined,
    "user-info": ["impersonate-on:user-info:get", "impersonate:user-info", "impersonate:user-info"],
    legacy: ["impersonate", "impersonate"],
  });
  assert.deepEqual(
    Object.entries(verbs({ "impersonate-user": "system:node:n" }))
      .filter(([, list]) => list !== undefined)
      .map(([name]) => name),
    ["arbitrary-node", "legacy"],
  );
});
