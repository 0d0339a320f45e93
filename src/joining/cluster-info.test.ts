import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { authorityHash, parseToken, trustedAuthority } from "./cluster-info.ts";
import type { ConfigMap } from "../api/core-v1/types.ts";

const token = { id: "abcdef", secret: "0123456789abcdef" };
// Made for this test; its key was not kept.
const authority = `-----BEGIN CERTIFICATE-----
MIIBdjCCARugAwIBAgIUGDIhlwli6NVByeoFYhzGlsLztekwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMzAyMTQzMjZaGA8yMTI2MTEwNjIxNDMy
NlowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOoX
UJFNFg9sUM8PD+sNM7p7LwzWR77b1jl+ZzeRKS+MPSN3zv1ttprMIvC7ZUxZUpdM
9w5JOviK3FxvJUeRnpejUzBRMB0GA1UdDgQWBBR9nzoNCpghpR6w31iEIjMvQ3v7
DTAfBgNVHSMEGDAWgBR9nzoNCpghpR6w31iEIjMvQ3v7DTAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0kAMEYCIQCKESpgJeku9rkUhQR+rIELKytm8mkNOj4w
icmv+3upMgIhAOYEll/l/NJNWZHg1vwCdvg7gszz9V+RvrQZF2l9cCXe
-----END CERTIFICATE-----
`;

function info(secret: string, id = "abcdef"): ConfigMap {
  const kubeconfig = JSON.stringify({
    clusters: [{ name: "", cluster: { server: "https://10.0.0.1:6443", "certificate-authority-data": Buffer.from(authority).toString("base64") } }],
  });
  const header = Buffer.from(JSON.stringify({ alg: "HS256", kid: id })).toString("base64url");
  const signature = createHmac("sha256", secret)
    .update(`${header}.${Buffer.from(kubeconfig).toString("base64url")}`)
    .digest("base64url");
  return { metadata: { name: "cluster-info" }, data: { kubeconfig, [`jws-kubeconfig-${id}`]: `${header}..${signature}` } };
}

test("the authority is believed when the info is signed with the token", () => {
  assert.equal(trustedAuthority(info(token.secret), token, []), authority);
  assert.equal(trustedAuthority(info(token.secret), token, [authorityHash(authority)]), authority);
});

for (const [says, given, hashes, message] of [
  ["another secret", info("fedcba9876543210"), [], /not signed with this token/],
  ["another token", info(token.secret, "zzzzzz"), [], /does not know this token/],
  ["nothing", { metadata: {} }, [], /has no cluster info/],
  ["another authority", info(token.secret), ["sha256:00"], /the server's authority is sha256:[0-9a-f]{64}, which is not what was expected/],
] as const)
  test(`not believed: ${says}`, () => assert.throws(() => trustedAuthority(given as ConfigMap, token, hashes), message));

for (const text of ["", "abc.def", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcdeg.x"])
  test(`no token: ${text}`, () => assert.throws(() => parseToken(text), /a token looks like/));
