/** PKCS#10 requests as `CertificateSigningRequest.spec.request` holds them (RFC 2986): read, and made. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import * as x509 from "@peculiar/x509";

export interface CertificateRequest {
  readonly pkcs10: x509.Pkcs10CertificateRequest;
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
}

/** `request`: base64 of PEM. Throws when it cannot be read. */
export function parseCertificateRequest(request: string): CertificateRequest {
  const pkcs10 = new x509.Pkcs10CertificateRequest(Buffer.from(request, "base64").toString("latin1"));
  const names = alternativeNames(pkcs10)?.names.items ?? [];
  const valuesOf = (type: string) => names.filter((name) => name.type === type).map(({ value }) => value);
  return {
    pkcs10,
    commonName: pkcs10.subjectName.getField("CN").at(-1) ?? "",
    organizations: pkcs10.subjectName.getField("O"),
    dnsNames: valuesOf("dns"),
    addresses: valuesOf("ip"),
    emails: valuesOf("email"),
    uris: valuesOf("url"),
  };
}

export function alternativeNames({ extensions }: x509.Pkcs10CertificateRequest): x509.SubjectAlternativeNameExtension | undefined {
  return extensions.find((extension) => extension instanceof x509.SubjectAlternativeNameExtension);
}

export interface RequestedSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** DNS names and addresses. */
  readonly hosts: readonly string[];
}

/** A new key (PEM, PKCS#8, ECDSA P-256) and a request for a certificate of it (base64 of PEM). */
export async function makeCertificateRequest({
  commonName,
  organizations,
  hosts,
}: RequestedSubject): Promise<{ readonly key: string; readonly request: string }> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
  x509.cryptoProvider.set(webcrypto as unknown as Crypto);
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
  const pkcs10 = await x509.Pkcs10CertificateRequestGenerator.create({
    name: new x509.Name([...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }]).toString(),
    keys: keys as never,
    signingAlgorithm: algorithm,
    extensions: hosts.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(hosts.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value })))],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  return {
    key: `-----BEGIN PRIVATE KEY-----\n${key.replace(/.{64}/g, "$&\n").trimEnd()}\n-----END PRIVATE KEY-----\n`,
    request: Buffer.from(`${pkcs10.toString("pem")}\n`).toString("base64"),
  };
}
