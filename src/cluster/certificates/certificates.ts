/**
 * The cluster's keys and certificates, kept in a store of keys: one authority, a serving certificate, client certificates by name, and the
 * key that signs service account tokens. A certificate that is asked for late in its life is made anew, where the authority's key is;
 * elsewhere the kept one is handed out, and whoever has others sign puts its successor into the store.
 */
import "reflect-metadata";
import { X509Certificate, generateKeyPair, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import { promisify } from "node:util";
import * as x509 from "@peculiar/x509";
import type { Clock } from "../../base/clock.ts";
import { isDue, lifeOf } from "./certificate-life.ts";
import { readPair, writePair } from "./key-store.ts";
import type { KeyAndCertificate, KeyStore } from "./key-store.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const yearMs = 365 * 24 * 3_600_000;
const authorityLifeMs = 10 * yearMs;
const certificateLifeMs = yearMs;
x509.cryptoProvider.set(webcrypto as unknown as Crypto);

/** Without a key where only its certificate was handed out. */
interface Authority {
  readonly certificate: x509.X509Certificate;
  readonly pem: string;
  readonly key?: CryptoKey;
}

/** The name under which a user's client certificate is kept. */
export function clientName(username: string): string {
  return `client-${username.replace(/[^\w.-]/g, "_")}`;
}

export class Certificates {
  readonly #store: KeyStore;
  readonly #clock: Clock;
  readonly #authorityName: string;
  #authority: Promise<Authority> | undefined;
  /** Those that are being made, by name. */
  readonly #making = new Map<string, Promise<KeyAndCertificate>>();

  /** `authorityName` is that of its files. */
  constructor(store: KeyStore, clock: Clock, authorityName = "ca") {
    this.#store = store;
    this.#clock = clock;
    this.#authorityName = authorityName;
  }

  /** Of an authority of its own: certificates of front proxies, which may speak for any user. */
  frontProxy(): Certificates {
    return new Certificates(this.#store, this.#clock, "front-proxy-ca");
  }

  /** PEM of the authority that signs all others. */
  async authority(): Promise<string> {
    return (await this.#loadAuthority()).pem;
  }

  /** Whether the authority's key is here, or will be made here. */
  async canSign(): Promise<boolean> {
    return (await this.#loadAuthority()).key !== undefined;
  }

  /** PEM of the key of that authority, for those who sign in its name. */
  async authorityKey(): Promise<string> {
    return exportKey((await this.#signer()).key);
  }

  /** The serving certificate for these names and addresses; made anew, with `also` in it, when they changed or it is late in its life. */
  async serving(name: string, hosts: readonly string[], also: readonly string[] = []): Promise<KeyAndCertificate> {
    return this.#kept(name, { commonName: name, organizations: [], hosts: [...new Set([...hosts, ...also])], usage: "serverAuth" }, hosts);
  }

  /** A client certificate: `commonName` is the user, `organizations` are the groups. Made anew when it is late in its life. */
  async client(name: string, commonName: string, organizations: readonly string[]): Promise<KeyAndCertificate> {
    return this.#kept(name, { commonName, organizations, hosts: [], usage: "clientAuth" });
  }

  /**
   * Puts into another store what a node may have: the authority's certificate, its own for serving, and those of its kubelet and proxy. No
   * key of the authority. What is there already and good for long stays.
   */
  async handOut(store: KeyStore, { name, hosts }: { readonly name: string; readonly hosts: readonly string[] }): Promise<void> {
    const authority = await this.authority();
    if ((await store.read("ca.crt")) !== authority) await store.write("ca.crt", authority);
    const client = { hosts: [], usage: "clientAuth" } as const;
    for (const [file, subject] of [
      ["kubelet", { commonName: "kubelet", organizations: [], hosts, usage: "serverAuth" }],
      [clientName(`system:node:${name}`), { ...client, commonName: `system:node:${name}`, organizations: ["system:nodes"] }],
      [clientName("system:kube-proxy"), { ...client, commonName: "system:kube-proxy", organizations: [] }],
    ] as const) {
      const known = await readPair(store, file);
      if (known === undefined || !(await this.#isOurs(known)) || !covers(known.certificate, subject.hosts) || (await this.#isToRenew(known)))
        await writePair(store, file, await this.#issue(subject));
    }
  }

  /** PEM of the key that signs service account tokens: RSA, or ECDSA, which is made in no time, where nothing is kept. */
  async serviceAccountKey(): Promise<string> {
    const known = await this.#store.read("service-account.key");
    if (known !== undefined) return known;
    const { privateKey } = await (this.#store.isKept
      ? promisify(generateKeyPair)("rsa", { modulusLength: 2048 })
      : promisify(generateKeyPair)("ec", { namedCurve: "P-256" }));
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
    await this.#store.write("service-account.key", pem);
    return pem;
  }

  /** The pair in the store when it is for these hosts and not late in its life; otherwise a new one, made once for all who ask. */
  async #kept(name: string, subject: Subject, hosts: readonly string[] = []): Promise<KeyAndCertificate> {
    const known = await readPair(this.#store, name);
    if (known !== undefined && covers(known.certificate, hosts) && !(await this.#isToRenew(known))) return known;
    const making = this.#making.get(name) ?? this.#make(name, subject).finally(() => this.#making.delete(name));
    this.#making.set(name, making);
    return making;
  }

  async #make(name: string, subject: Subject): Promise<KeyAndCertificate> {
    const pair = await this.#issue(subject);
    await writePair(this.#store, name, pair);
    return pair;
  }

  /** Late in its life, and here is what makes one that lasts longer. */
  async #isToRenew({ certificate }: KeyAndCertificate): Promise<boolean> {
    if (!isDue(certificate, this.#clock.nowMs())) return false;
    const authority = await this.#loadAuthority();
    return authority.key !== undefined && this.#endOfNext(authority) > lifeOf(certificate).endMs;
  }

  async #isOurs({ certificate }: KeyAndCertificate): Promise<boolean> {
    const { pem } = await this.#loadAuthority();
    return new X509Certificate(certificate).verify(new X509Certificate(pem).publicKey);
  }

  /** When a certificate made now ends: not after what it is checked with. */
  #endOfNext({ pem }: Authority): number {
    return Math.min(this.#clock.nowMs() + certificateLifeMs, lifeOf(pem).endMs);
  }

  async #signer(): Promise<Required<Authority>> {
    const { key, ...authority } = await this.#loadAuthority();
    if (key === undefined)
      throw new Error(`${this.#authorityName}.key is missing ${this.#store.place}: only where the cluster was made can certificates be signed`);
    return { ...authority, key };
  }

  /** The one that is kept; without any, a new one. */
  #loadAuthority(): Promise<Authority> {
    return (this.#authority ??= this.#readAuthority().catch((error: unknown) => {
      this.#authority = undefined;
      throw error;
    }));
  }

  async #readAuthority(): Promise<Authority> {
    const name = this.#authorityName;
    const [pem, key] = await Promise.all([this.#store.read(`${name}.crt`), this.#store.read(`${name}.key`)]);
    if (pem === undefined && key !== undefined)
      throw new Error(`${name}.crt is missing ${this.#store.place}, beside ${name}.key: restore the data directory from a backup`);
    if (pem === undefined) return this.#makeAuthority();
    try {
      return { certificate: new x509.X509Certificate(pem), pem, ...(key !== undefined && { key: await importKey(key) }) };
    } catch (cause) {
      throw new Error(`${name}.crt or ${name}.key ${this.#store.place} is damaged: restore the data directory from a backup`, { cause });
    }
  }

  async #makeAuthority(): Promise<Authority> {
    const keys = await generateKeys();
    const nowMs = this.#clock.nowMs();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: serialNumber(),
      name: `CN=coracle-${this.#authorityName}`,
      notBefore: new Date(nowMs - 3_600_000),
      notAfter: new Date(nowMs + authorityLifeMs),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    const pem = certificate.toString("pem");
    await this.#store.write(`${this.#authorityName}.key`, await exportKey(keys.privateKey));
    await this.#store.write(`${this.#authorityName}.crt`, pem);
    return { certificate, key: keys.privateKey, pem };
  }

  async #issue(subject: Subject): Promise<KeyAndCertificate> {
    const authority = await this.#signer();
    const keys = await generateKeys();
    const nowMs = this.#clock.nowMs();
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject: new x509.Name([...subject.organizations.map((organization) => ({ O: [organization] })), { CN: [subject.commonName] }]).toString(),
      issuer: authority.certificate.subject,
      notBefore: new Date(nowMs - 3_600_000),
      notAfter: new Date(this.#endOfNext(authority)),
      signingAlgorithm: algorithm,
      publicKey: keys.publicKey,
      signingKey: authority.key,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension(
          subject.usage === "serverAuth" ? [x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth] : [x509.ExtendedKeyUsage.clientAuth],
        ),
        ...(subject.hosts.length > 0
          ? [new x509.SubjectAlternativeNameExtension(subject.hosts.map((host) => ({ type: isIP(host) === 0 ? "dns" : "ip", value: host })))]
          : []),
        await x509.AuthorityKeyIdentifierExtension.create(authority.certificate),
      ],
    });
    return { key: await exportKey(keys.privateKey), certificate: certificate.toString("pem") };
  }
}

interface KeyPair {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

interface Subject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly hosts: readonly string[];
  readonly usage: "serverAuth" | "clientAuth";
}

function covers(pem: string, hosts: readonly string[]): boolean {
  const extension = new x509.X509Certificate(pem).getExtension(x509.SubjectAlternativeNameExtension);
  const names = new Set(extension?.names.items.map((name) => name.value));
  return hosts.every((host) => names.has(host));
}

async function generateKeys(): Promise<KeyPair> {
  return (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as unknown as KeyPair;
}

async function exportKey(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key as webcrypto.CryptoKey));
  return `-----BEGIN PRIVATE KEY-----\n${der.toString("base64").replace(/.{64}/g, "$&\n").trimEnd()}\n-----END PRIVATE KEY-----\n`;
}

async function importKey(pem: string): Promise<CryptoKey> {
  const der = Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
  return (await webcrypto.subtle.importKey("pkcs8", der, algorithm, true, ["sign"])) as unknown as CryptoKey;
}

function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(15));
  return `00${Buffer.from(bytes).toString("hex")}`;
}
