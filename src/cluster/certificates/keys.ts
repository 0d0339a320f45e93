/** Keys of our certificates: ECDSA on P-256, as PEM of PKCS#8. */
import { webcrypto } from "node:crypto";

export const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

interface KeyPair {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

export async function generateKeys(): Promise<KeyPair> {
  return (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as unknown as KeyPair;
}

export async function exportKey(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key as webcrypto.CryptoKey));
  return `-----BEGIN PRIVATE KEY-----\n${der.toString("base64").replace(/.{64}/g, "$&\n").trimEnd()}\n-----END PRIVATE KEY-----\n`;
}

export async function importKey(pem: string): Promise<CryptoKey> {
  const der = Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
  return (await webcrypto.subtle.importKey("pkcs8", der, algorithm, true, ["sign"])) as unknown as CryptoKey;
}

export function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(15));
  return `00${Buffer.from(bytes).toString("hex")}`;
}
