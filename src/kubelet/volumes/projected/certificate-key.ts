/** Keys for pods' certificates, and the empty certification request that proves they are held. A big module: loaded when first used. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

/** `keyType` as PodCertificateProjection has it. Returns PEM (PKCS #8) and DER. Throws for a type that is none. */
export async function newCertificateKey(keyType: string): Promise<{ readonly keyPem: string; readonly request: Uint8Array }> {
  const algorithm = algorithms[keyType];
  if (algorithm === undefined) throw new Error(`unknown key type ${JSON.stringify(keyType)}`);
  x509.cryptoProvider.set(webcrypto as unknown as Crypto);
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
  const request = await x509.Pkcs10CertificateRequestGenerator.create({ keys: keys as never, signingAlgorithm: algorithm as never });
  const bytes = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  return { keyPem: `-----BEGIN PRIVATE KEY-----\n${bytes.replace(/.{1,64}/g, "$&\n")}-----END PRIVATE KEY-----\n`, request: Buffer.from(request.rawData) };
}

const rsa = (modulusLength: number) => ({ name: "RSASSA-PKCS1-v1_5", modulusLength, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" });
const algorithms: Readonly<Record<string, webcrypto.RsaHashedKeyGenParams | (webcrypto.EcKeyGenParams & { hash: string }) | { name: string }>> = {
  RSA3072: rsa(3072),
  RSA4096: rsa(4096),
  ECDSAP256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  ECDSAP384: { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" },
  ECDSAP521: { name: "ECDSA", namedCurve: "P-521", hash: "SHA-512" },
  ED25519: { name: "Ed25519" },
};
