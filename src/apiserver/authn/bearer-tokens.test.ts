import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { BearerTokens, readBearer } from "./bearer-tokens.ts";
import { bootstrapTokens } from "./bootstrap-tokens.ts";
import { staticTokens } from "./static-tokens.ts";

test("the Authorization header", () => {
  const table: [header: string, token: string | undefined, hasExtraSpace: boolean][] = [
    ["Bearer abc", "abc", false],
    ["bearer abc def", "abc", false],
    ["Bearer  abc", undefined, true],
    ["Bearer ", undefined, false],
    ["Basic abc", undefined, false],
  ];
  for (const [authorization, token, hasExtraSpace] of table) assert.deepEqual(readBearer({ headers: { authorization } }), { token, hasExtraSpace });
});

test("tokens from a file", async () => {
  const tokens = new BearerTokens([staticTokens('t1,alice,1,"a,b"\n# note\nt2,"bob, jr",2\n', ["api"])], ["api"]);
  assert.deepEqual(await tokens.review("t1", []), { user: { username: "alice", uid: "1", groups: ["a", "b"] }, audiences: ["api"] });
  assert.deepEqual(await tokens.review("t2", ["api", "other"]), { user: { username: "bob, jr", uid: "2", groups: [] }, audiences: ["api"] });
  assert.deepEqual(await tokens.review("t1", ["other"]), { rejected: "invalid bearer token" });
  assert.throws(() => staticTokens("t,u", []), /at least 3 columns/);
});

test("bootstrap tokens", async () => {
  const clock = new VirtualClock(Date.parse("2030-01-01T00:00:00Z"));
  const encode = (data: Record<string, string>) => Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));
  const good = { "token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true" };
  const table: [data: Record<string, string>, groups: string[] | undefined][] = [
    [good, ["system:bootstrappers"]],
    [
      { ...good, "auth-extra-groups": "system:bootstrappers:b,system:bootstrappers:a" },
      ["system:bootstrappers", "system:bootstrappers:a", "system:bootstrappers:b"],
    ],
    [{ ...good, "auth-extra-groups": "system:masters" }, undefined],
    [{ ...good, "token-secret": "x" }, undefined],
    [{ ...good, expiration: "2029-12-31T00:00:00Z" }, undefined],
    [{ ...good, expiration: "soon" }, undefined],
    [{ ...good, "usage-bootstrap-authentication": "yes" }, undefined],
  ];
  for (const [data, groups] of table) {
    const kind = bootstrapTokens(["api"], clock, (name) =>
      name === "bootstrap-token-abcdef" ? { metadata: {}, type: "bootstrap.kubernetes.io/token", data: encode(data) } : undefined,
    );
    const result = await kind.authenticateToken("abcdef.0123456789abcdef", ["api"]);
    assert.deepEqual(result !== undefined && "user" in result ? result.user.groups : undefined, groups);
  }
});
