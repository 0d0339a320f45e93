import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { alternativeNames } from "../../apimachinery/certificate-request.ts";
import type { Random } from "../../base/random.ts";
import type { CertificateRequest } from "../../apimachinery/certificate-request.ts";

/** Issues certificates with the cluster's authority. */
export class CertificateIssuer {
  readonly #authority: Authority;
  readonly #random: Random;

  constructor(authority: Authority, random: Random) {
    this.#authority = authority;
    this.#random = random;
  }

  /** PEM of the certificate for a request, valid from 5 min ago for `lifetimeMs`; a short one (8 h or less) counts from now. */
  async issue(request: CertificateRequest, usages: readonly string[], { lifetimeMs, nowMs }: { lifetimeMs: number; nowMs: number }): Promise<string> {
    const authority = new x509.X509Certificate(this.#authority.certificate);
    const signingKey = await importKey(this.#authority.key);
    const endMs = nowMs + lifetimeMs - (lifetimeMs > shortMs ? backdateMs : 0);
    const names = alternativeNames(request.pkcs10);
    const certificate = await x509.X509CertificateGenerator.create(
      {
        serialNumber: `00${Buffer.from(this.#random.bytes(15)).toString("hex")}`,
        subject: request.pkcs10.subjectName,
        issuer: authority.subjectName,
        notBefore: new Date(nowMs - backdateMs),
        notAfter: new Date(Math.min(endMs, authority.notAfter.getTime())),
        signingAlgorithm: algorithm,
        publicKey: request.pkcs10.publicKey,
        signingKey,
        extensions: [
          ...usageExtensions(usages),
          new x509.BasicConstraintsExtension(false, undefined, true),
          await x509.AuthorityKeyIdentifierExtension.create(authority, false, crypto),
          ...(names === undefined ? [] : [names]),
        ],
      },
      crypto,
    );
    return `${certificate.toString("pem")}\n`;
  }
}

export interface Authority {
  /** PEM. */
  readonly certificate: string;
  /** PEM (PKCS#8) of an ECDSA key on P-256. */
  readonly key: string;
}

const crypto = webcrypto as unknown as Crypto;
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const backdateMs = 5 * 60_000;
const shortMs = 8 * 3_600_000;

const keyUsages: Readonly<Record<string, number>> = {
  signing: x509.KeyUsageFlags.digitalSignature,
  "digital signature": x509.KeyUsageFlags.digitalSignature,
  "content commitment": x509.KeyUsageFlags.nonRepudiation,
  "key encipherment": x509.KeyUsageFlags.keyEncipherment,
  "key agreement": x509.KeyUsageFlags.keyAgreement,
  "data encipherment": x509.KeyUsageFlags.dataEncipherment,
  "cert sign": x509.KeyUsageFlags.keyCertSign,
  "crl sign": x509.KeyUsageFlags.cRLSign,
  "encipher only": x509.KeyUsageFlags.encipherOnly,
  "decipher only": x509.KeyUsageFlags.decipherOnly,
};
/** Object identifiers of RFC 5280 and of their vendors. */
const extendedKeyUsages: Readonly<Record<string, string>> = {
  any: "2.5.29.37.0",
  "server auth": x509.ExtendedKeyUsage.serverAuth,
  "client auth": x509.ExtendedKeyUsage.clientAuth,
  "code signing": x509.ExtendedKeyUsage.codeSigning,
  "email protection": x509.ExtendedKeyUsage.emailProtection,
  "s/mime": x509.ExtendedKeyUsage.emailProtection,
  "ipsec end system": "1.3.6.1.5.5.7.3.5",
  "ipsec tunnel": "1.3.6.1.5.5.7.3.6",
  "ipsec user": "1.3.6.1.5.5.7.3.7",
  timestamping: x509.ExtendedKeyUsage.timeStamping,
  "ocsp signing": x509.ExtendedKeyUsage.ocspSigning,
  "microsoft sgc": "1.3.6.1.4.1.311.10.3.3",
  "netscape sgc": "2.16.840.1.113730.4.1",
};

function usageExtensions(usages: readonly string[]): x509.Extension[] {
  const flags = usages.reduce((all, usage) => all | (keyUsages[usage] ?? 0), 0);
  const extended = [...new Set(usages.flatMap((usage) => extendedKeyUsages[usage] ?? []))];
  return [...(flags === 0 ? [] : [new x509.KeyUsagesExtension(flags, true)]), ...(extended.length === 0 ? [] : [new x509.ExtendedKeyUsageExtension(extended)])];
}

async function importKey(pem: string): Promise<CryptoKey> {
  const der = Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
  return crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
}
