import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { silentLog } from "../../../base/log.ts";
import { VirtualClock, loopTurn } from "../../../base/virtual-clock.ts";
import type { JwtConfiguration } from "./configuration.ts";
import { jwtTokens } from "./jwt-tokens.ts";
import { KeySet } from "./key-set.ts";

const nowSeconds = Date.parse("2030-01-01T00:00:00Z") / 1000;
const good = { iss: "https://issuer.example", aud: "app", sub: "alice", exp: nowSeconds + 60 };
const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
const other = generateKeyPairSync("ec", { namedCurve: "P-256" });
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

function token(claims: object, header: object = { alg: "ES256", kid: "k" }, key = pair.privateKey): string {
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

async function authenticator(t: { after(stop: () => void): void }, mappings: JwtConfiguration["claimMappings"], rest: Partial<JwtConfiguration> = {}) {
  const clock = new VirtualClock(nowSeconds * 1000);
  const documents: Record<string, unknown> = {
    "https://issuer.example/.well-known/openid-configuration": { issuer: "https://issuer.example", jwks_uri: "https://issuer.example/keys" },
    "https://issuer.example/keys": { keys: [{ ...pair.publicKey.export({ format: "jwk" }), kid: "k", use: "sig" }] },
  };
  const keys = new KeySet({
    issuer: "https://issuer.example",
    discoveryUrl: "https://issuer.example/.well-known/openid-configuration",
    certificateAuthority: undefined,
    read: async (url) => documents[url],
    clock,
    log: silentLog,
  });
  const stop = new AbortController();
  const running = keys.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  await loopTurn();
  const kind = jwtTokens(
    { issuer: { url: "https://issuer.example", audiences: ["app"] }, claimMappings: mappings, ...rest },
    { keys, clock, apiAudiences: ["api"] },
  );
  return async (text: string) => {
    const result = await kind.authenticateToken(text, ["api"]);
    return result === undefined ? "not ours" : "user" in result ? result.user : result.rejected;
  };
}

test("signature, audience and times", async (t) => {
  const check = await authenticator(t, { username: { claim: "sub", prefix: "oidc:" } });
  const table: [token: string, expected: RegExp | string][] = [
    [token(good), "oidc:alice"],
    [token(good, { alg: "ES256" }), "oidc:alice"],
    [token({ ...good, aud: ["x", "app"], exp: String(good.exp) }), "oidc:alice"],
    [token(good, { alg: "ES256", kid: "k" }, other.privateKey), /failed to verify signature/],
    [token(good, { alg: "ES256", kid: "z" }), /failed to verify signature/],
    [token(good, { alg: "none", kid: "k" }), /unsupported algorithm/],
    [token(good, { alg: "HS256", kid: "k" }), /unsupported algorithm/],
    [token(good, { alg: "RS256", kid: "k" }), /failed to verify signature/],
    [token({ ...good, aud: "other" }), /expected audience "app" got \["other"\]/],
    [token({ ...good, exp: nowSeconds }), /token is expired/],
    [token({ ...good, nbf: nowSeconds + 3600 }), /not before/],
    [token({ ...good, iss: "https://other.example" }), "not ours"],
    [`${token(good)}=`, /malformed jwt/],
    ["a.b", "not ours"],
  ];
  for (const [text, expected] of table) {
    const result = await check(text);
    const shown = typeof result === "string" ? result : result.username;
    if (typeof expected === "string") assert.equal(shown, expected);
    else assert.match(shown, expected);
  }
});

test("claims become users", async (t) => {
  const check = await authenticator(
    t,
    {
      username: { expression: "'u:' + claims.sub" },
      groups: { claim: "groups", prefix: "g:" },
      extra: [{ key: "example.com/t", valueExpression: "has(claims.t) ? claims.t : ''" }],
    },
    {
      claimValidationRules: [{ claim: "hd", requiredValue: "d" }],
      userValidationRules: [{ expression: "!user.username.startsWith('u:system:')", message: "not you" }],
    },
  );
  assert.deepEqual(await check(token({ ...good, hd: "d", groups: ["a"], t: "T", jti: "j" })), {
    username: "u:alice",
    groups: ["g:a"],
    extra: { "authentication.kubernetes.io/credential-id": ["JTI=j"], "example.com/t": ["T"] },
  });
  assert.match((await check(token(good))) as string, /required claim hd not present/);
  assert.match((await check(token({ ...good, hd: "d", sub: "system:x" }))) as string, /failed: not you/);
  assert.match((await check(token({ ...good, hd: "d", groups: [3] }))) as string, /parse groups claim "groups"/);
});
