/** Keys that sign service account tokens, RSA or ECDSA (flag `--service-account-signing-key-file`; RFC 7518 section 3.1). */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";

/** A public key, or the public half of a private one or of a certificate. */
export interface VerificationKey {
  readonly id: string;
  /** RS256, ES256, ES384 or ES512. */
  readonly algorithm: string;
  verify(content: string, signature: Buffer): boolean;
  /** As a JSON Web Key Set lists it. */
  readonly jwk: object;
}

export interface SigningKey {
  readonly id: string;
  readonly algorithm: string;
  sign(content: string): Buffer;
}

/** Throws an Error for a key of another kind. */
export function verificationKey(pem: string): VerificationKey {
  const key = createPublicKey(pem);
  const { algorithm, hash } = algorithmOf(key);
  const id = keyId(key);
  const { kty, crv, n, e, x, y } = key.export({ format: "jwk" }) as Readonly<Record<string, string>>;
  return {
    id,
    algorithm,
    verify: (content, signature) => verify(hash, Buffer.from(content), { key, dsaEncoding: "ieee-p1363" }, signature),
    jwk: { use: "sig", kty, kid: id, ...(crv !== undefined && { crv }), alg: algorithm, ...(kty === "RSA" ? { n, e } : { x, y }) },
  };
}

/** Throws an Error for a key of another kind. */
export function signingKey(pem: string): SigningKey {
  const key = createPrivateKey(pem);
  const { algorithm, hash } = algorithmOf(key);
  return { id: keyId(createPublicKey(pem)), algorithm, sign: (content) => sign(hash, Buffer.from(content), { key, dsaEncoding: "ieee-p1363" }) };
}

const curves: Readonly<Record<string, { readonly algorithm: string; readonly hash: string }>> = {
  prime256v1: { algorithm: "ES256", hash: "SHA256" },
  secp384r1: { algorithm: "ES384", hash: "SHA384" },
  secp521r1: { algorithm: "ES512", hash: "SHA512" },
};

function algorithmOf(key: KeyObject): { readonly algorithm: string; readonly hash: string } {
  if (key.asymmetricKeyType === "rsa") return { algorithm: "RS256", hash: "SHA256" };
  const curve = curves[key.asymmetricKeyDetails?.namedCurve ?? ""];
  if (curve === undefined) throw new Error("tokens are signed with RSA keys, or ECDSA keys on the curves P-256, P-384 and P-521");
  return curve;
}

function keyId(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
}
