/**
 * An authority and its files: `NAME.crt`, a bundle of all that are trusted, the one that signs first; `NAME.key` of that one; and
 * `NAME.next.key` of a successor that does not sign yet. Whoever has the key carries out what `authorityStep` says, whenever the authority is
 * asked for; whoever has none reads what others have written.
 */
import { X509Certificate, createPrivateKey } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { certificatesOf } from "../../apiserver/authn/certificate-trust.ts";
import type { Clock } from "../../base/clock.ts";
import { authorityStep } from "./authority-step.ts";
import { isDue, lifeOf } from "./certificate-life.ts";
import type { CertificateLife } from "./certificate-life.ts";
import type { KeyStore } from "./key-store.ts";
import { algorithm, exportKey, generateKeys, importKey, serialNumber } from "./keys.ts";

/** Without a key where only its certificate was handed out. */
export interface Authority {
  readonly certificate: x509.X509Certificate;
  /** PEM of the one that signs. */
  readonly pem: string;
  /** PEM of all that are trusted, that one first. */
  readonly bundle: string;
  readonly key?: CryptoKey;
}

const lifeMs = 10 * 365 * 24 * 3_600_000;

export class AuthorityFiles {
  readonly #store: KeyStore;
  readonly #clock: Clock;
  readonly #name: string;
  #loading: Promise<Authority> | undefined;

  constructor(store: KeyStore, clock: Clock, name: string) {
    this.#store = store;
    this.#clock = clock;
    this.#name = name;
  }

  /** The one that is kept, as it is to be now; without any, a new one. */
  load(): Promise<Authority> {
    return (this.#loading ??= this.#load().finally(() => (this.#loading = undefined)));
  }

  async #load(): Promise<Authority> {
    for (;;) {
      const authority = await this.#read();
      if (authority === undefined) await this.#write({ next: await this.#make(`CN=coracle-${this.#name}`), others: [] });
      else if (!(await this.#step(authority))) return authority;
    }
  }

  async #read(): Promise<Authority | undefined> {
    const name = this.#name;
    const [bundle, ...keys] = await Promise.all([`${name}.crt`, `${name}.key`, nextKey(name)].map((file) => this.#store.read(file)));
    const known = keys.filter((key) => key !== undefined);
    if (bundle === undefined && keys[0] !== undefined)
      throw new Error(`${name}.crt is missing ${this.#store.place}, beside ${name}.key: restore the data directory from a backup`);
    if (bundle === undefined) return undefined;
    try {
      const pem = certificatesOf(bundle)[0] ?? bundle;
      const key = known.find((text) => belongTo(text, pem));
      if (key === undefined && known.length > 0) throw new Error("the key is another certificate's");
      return { certificate: new x509.X509Certificate(pem), pem, bundle, ...(key !== undefined && { key: await importKey(key) }) };
    } catch (cause) {
      throw new Error(`${name}.crt or ${name}.key ${this.#store.place} is damaged: restore the data directory from a backup`, { cause });
    }
  }

  /** Carries out what is due; false when nothing is. */
  async #step({ pem, bundle, key }: Authority): Promise<boolean> {
    if (key === undefined) return false;
    const [store, name, nowMs] = [this.#store, this.#name, this.#clock.nowMs()];
    const others = certificatesOf(bundle).slice(1);
    const current = others.filter((other) => lifeOf(other).endMs > nowMs);
    switch (authorityStep([lifeOf(pem), ...others.map(lifeOf)] as [CertificateLife, ...CertificateLife[]], nowMs)) {
      case "keep":
        return false;
      case "drop":
        await store.write(`${name}.crt`, joined([pem, ...current]));
        return true;
      case "introduce": {
        const next = await this.#make(`CN=coracle-${name}@${Math.floor(nowMs / 1000)}`);
        await store.write(nextKey(name), next.key);
        await store.write(`${name}.crt`, joined([pem, ...current, next.pem]));
        return true;
      }
      case "promote": {
        const nextKeyText = (await store.read(nextKey(name))) ?? "";
        const next = others.find((other) => belongTo(nextKeyText, other));
        // Without its key a successor will never sign: another one is made.
        if (next === undefined) await store.write(`${name}.crt`, joined([pem, ...current.filter((other) => isDue(other, nowMs))]));
        else await this.#write({ next: { pem: next, key: nextKeyText }, others: [pem, ...current.filter((other) => other !== next)] });
        return true;
      }
    }
  }

  /** A first one, or a successor in the place of the one that signed: whenever the process ends, there is a key for the first certificate. */
  async #write({ next, others }: { readonly next: MadeAuthority; readonly others: readonly string[] }): Promise<void> {
    const name = this.#name;
    await this.#store.write(others.length === 0 ? `${name}.key` : nextKey(name), next.key);
    await this.#store.write(`${name}.crt`, joined([next.pem, ...others]));
    if (others.length === 0) return;
    await this.#store.write(`${name}.key`, next.key);
    await this.#store.remove(nextKey(name));
  }

  async #make(subject: string): Promise<MadeAuthority> {
    const keys = await generateKeys();
    const nowMs = this.#clock.nowMs();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: serialNumber(),
      name: subject,
      notBefore: new Date(nowMs - 3_600_000),
      notAfter: new Date(nowMs + lifeMs),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return { pem: certificate.toString("pem"), key: await exportKey(keys.privateKey) };
  }
}

interface MadeAuthority {
  readonly pem: string;
  readonly key: string;
}

/** Where a successor's key waits. */
const nextKey = (name: string) => `${name}.next.key`;

function joined(pems: readonly string[]): string {
  return pems.map((pem) => pem.trimEnd()).join("\n");
}

function belongTo(key: string, pem: string): boolean {
  try {
    return new X509Certificate(pem).checkPrivateKey(createPrivateKey(key));
  } catch {
    // What cannot be read belongs to nothing.
    return false;
  }
}
