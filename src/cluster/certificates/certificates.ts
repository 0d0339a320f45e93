/**
 * The cluster's keys and certificates, kept in a store of keys: an authority, a serving certificate, client certificates by name, and the
 * key that signs service account tokens. A certificate that is asked for late in its life is made anew, where the authority's key is;
 * elsewhere the kept one is handed out, and whoever has others sign puts its successor into the store.
 */
import "reflect-metadata";
import { X509Certificate, generateKeyPair, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import { promisify } from "node:util";
import * as x509 from "@peculiar/x509";
import type { Clock } from "../../base/clock.ts";
import { AuthorityFiles } from "./authority.ts";
import type { Authority } from "./authority.ts";
import { isDue, lifeOf } from "./certificate-life.ts";
import { algorithm, exportKey, generateKeys, serialNumber } from "./keys.ts";
import { readPair, writePair } from "./key-store.ts";
import type { KeyAndCertificate, KeyStore } from "./key-store.ts";

const yearMs = 365 * 24 * 3_600_000;
const certificateLifeMs = yearMs;
x509.cryptoProvider.set(webcrypto as unknown as Crypto);

/** The name under which a user's client certificate is kept. */
export function clientName(username: string): string {
  return `client-${username.replace(/[^\w.-]/g, "_")}`;
}

export class Certificates {
  readonly #store: KeyStore;
  readonly #clock: Clock;
  readonly #authorityName: string;
  readonly #authority: AuthorityFiles;
  /** Those that are being made, by name. */
  readonly #making = new Map<string, Promise<KeyAndCertificate>>();

  /** `authorityName` is that of its files. */
  constructor(store: KeyStore, clock: Clock, authorityName = "ca") {
    this.#store = store;
    this.#clock = clock;
    this.#authorityName = authorityName;
    this.#authority = new AuthorityFiles(store, clock, authorityName);
  }

  /** Of an authority of its own: certificates of front proxies, which may speak for any user. */
  frontProxy(): Certificates {
    return new Certificates(this.#store, this.#clock, "front-proxy-ca");
  }

  /** PEM of all authorities that are trusted: the one that signs first, then its successor or its predecessor. */
  async authority(): Promise<string> {
    return (await this.#authority.load()).bundle;
  }

  /** Whether the authority's key is here, or will be made here. */
  async canSign(): Promise<boolean> {
    return (await this.#authority.load()).key !== undefined;
  }

  /** The authority that signs now, for those who sign in its name. */
  async signer(): Promise<KeyAndCertificate> {
    const { pem, key } = await this.#signer();
    return { certificate: pem, key: await exportKey(key) };
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
    const authority = await this.#authority.load();
    return authority.key !== undefined && this.#endOfNext(authority) > lifeOf(certificate).endMs;
  }

  async #isOurs({ certificate }: KeyAndCertificate): Promise<boolean> {
    const { pem } = await this.#authority.load();
    return new X509Certificate(certificate).verify(new X509Certificate(pem).publicKey);
  }

  /** When a certificate made now ends: not after what it is checked with. */
  #endOfNext({ pem }: Authority): number {
    return Math.min(this.#clock.nowMs() + certificateLifeMs, lifeOf(pem).endMs);
  }

  async #signer(): Promise<Required<Authority>> {
    const { key, ...authority } = await this.#authority.load();
    if (key === undefined)
      throw new Error(`${this.#authorityName}.key is missing ${this.#store.place}: only where the cluster was made can certificates be signed`);
    return { ...authority, key };
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
        // One use only: who serves with a key is nobody with it.
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[subject.usage]]),
        ...(subject.hosts.length > 0
          ? [new x509.SubjectAlternativeNameExtension(subject.hosts.map((host) => ({ type: isIP(host) === 0 ? "dns" : "ip", value: host })))]
          : []),
        await x509.AuthorityKeyIdentifierExtension.create(authority.certificate),
      ],
    });
    return { key: await exportKey(keys.privateKey), certificate: certificate.toString("pem") };
  }
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
