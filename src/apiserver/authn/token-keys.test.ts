import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import { signingKey, verificationKey } from "./token-keys.ts";

const pem = { privateKeyEncoding: { type: "pkcs8", format: "pem" }, publicKeyEncoding: { type: "spki", format: "pem" } } as const;
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048, ...pem });
const onCurve = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve, ...pem });

for (const [name, pair, algorithm, signatureBytes, fields] of [
  ["RSA", rsa, "RS256", 256, ["use", "kty", "kid", "alg", "n", "e"]],
  ["P-256", onCurve("P-256"), "ES256", 64, ["use", "kty", "kid", "crv", "alg", "x", "y"]],
  ["P-384", onCurve("P-384"), "ES384", 96, ["use", "kty", "kid", "crv", "alg", "x", "y"]],
  ["P-521", onCurve("P-521"), "ES512", 132, ["use", "kty", "kid", "crv", "alg", "x", "y"]],
] as const) {
  test(`token keys: ${name} signs, and its public half, its private half and no other accept it`, () => {
    const signer = signingKey(pair.privateKey);
    const signature = signer.sign("a.b");
    equal(signature.length, signatureBytes);
    for (const text of [pair.publicKey, pair.privateKey]) {
      const key = verificationKey(text);
      deepEqual([signer.algorithm, signer.id, key.algorithm, Object.keys(key.jwk)], [algorithm, key.id, algorithm, fields]);
      equal(key.verify("a.b", signature), true);
      equal(key.verify("a.c", signature), false);
    }
    equal(verificationKey(onCurve("P-256").publicKey).verify("a.b", signature), false);
  });
}

test("token keys: other kinds are refused", () => {
  throws(() => signingKey(generateKeyPairSync("ed25519", pem).privateKey), /tokens are signed with RSA keys, or ECDSA keys/);
});
