/**
 * The certificate of an operator's webhook server, of an authority of its own: made on first use, kept in a Secret that all replicas share,
 * and made anew when a third of its life is left.
 */
import { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../apimachinery/status.ts";
import type { Secret } from "../../api/core-v1/types.ts";
import { resources } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";

export interface ServingCertificate {
  /** PEM. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
  /** When a new one is due. */
  readonly renewMs: number;
}

export interface CertificateContext {
  readonly clock: Clock;
  readonly random: Random;
  /** DNS names and addresses that the API server may call. */
  readonly hosts: readonly string[];
}

/** The certificate in Secret `namespace/name`, made (again) when there is none that fits. Replicas that meet there agree on one. */
export async function sharedCertificate(
  client: Client,
  secret: { namespace: string; name: string },
  context: CertificateContext,
  signal: AbortSignal,
): Promise<ServingCertificate> {
  for (;;) {
    const stored = await client.get(resources.secrets, secret.namespace, secret.name, { signal }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    const known = stored === undefined ? undefined : await readSecret(stored, context.hosts);
    if (known !== undefined && known.renewMs > context.clock.nowMs()) return known;
    const made = await issueCertificate(context);
    const object: Secret = {
      metadata: { ...secret, ...(stored?.metadata.resourceVersion !== undefined && { resourceVersion: stored.metadata.resourceVersion }) },
      type: "kubernetes.io/tls",
      data: { "ca.crt": base64(made.authority), "tls.crt": base64(made.certificate), "tls.key": base64(made.key) },
    };
    try {
      if (stored === undefined) await client.create(resources.secrets, object, { signal });
      else await client.update(resources.secrets, object, { signal });
      return made;
    } catch (error) {
      // Another replica was faster: its certificate is read.
      if (!isAlreadyExists(error) && !isConflict(error)) throw error;
    }
  }
}

/** A fresh authority and a serving certificate of it, both for a year. */
export async function issueCertificate({ clock, random, hosts }: CertificateContext): Promise<ServingCertificate> {
  const { x509 } = await import("./x509.ts");
  const nowMs = clock.nowMs();
  const validity = { notBefore: new Date(nowMs - hourMs), notAfter: new Date(nowMs + lifeMs), signingAlgorithm: algorithm };
  const serialNumber = () => `00${Buffer.from(random.bytes(15)).toString("hex")}`;
  const [authorityKeys, keys] = [await newKeys(), await newKeys()];
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: serialNumber(),
    name: "CN=operator-webhooks",
    keys: authorityKeys,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true), new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)],
  });
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity,
    serialNumber: serialNumber(),
    subject: "CN=operator-webhooks-server",
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(hosts.map((host) => ({ type: isIP(host) === 0 ? "dns" : "ip", value: host }))),
    ],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey as webcrypto.CryptoKey));
  const key = `-----BEGIN PRIVATE KEY-----\n${der.toString("base64").replace(/.{64}/g, "$&\n").trimEnd()}\n-----END PRIVATE KEY-----\n`;
  return { authority: authority.toString("pem"), certificate: certificate.toString("pem"), key, renewMs: renewalOf(nowMs + lifeMs) };
}

const hourMs = 3_600_000;
const lifeMs = 365 * 24 * hourMs;
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

function renewalOf(endMs: number): number {
  return endMs - lifeMs / 3;
}

async function newKeys(): Promise<CryptoKeyPair> {
  return (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as unknown as CryptoKeyPair;
}
type CryptoKeyPair = { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey };

/** Undefined when the Secret does not hold a certificate for these hosts. */
async function readSecret({ data = {} }: Secret, hosts: readonly string[]): Promise<ServingCertificate | undefined> {
  const [authority, certificate, key] = ["ca.crt", "tls.crt", "tls.key"].map((name) => Buffer.from(data[name] ?? "", "base64").toString());
  if (!authority?.includes("BEGIN CERTIFICATE") || !certificate?.includes("BEGIN CERTIFICATE") || !key?.includes("BEGIN")) return undefined;
  const { X509Certificate } = await import("node:crypto");
  const parsed = new X509Certificate(certificate);
  const names = new Set((parsed.subjectAltName ?? "").split(", ").map((name) => name.replace(/^(DNS|IP Address):/, "")));
  return hosts.every((host) => names.has(host)) ? { authority, certificate, key, renewMs: renewalOf(parsed.validToDate.getTime()) } : undefined;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
