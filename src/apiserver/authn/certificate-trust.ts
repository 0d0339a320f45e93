/** Whether certificates of clients are signed by authorities that count, which may be replaced while the server runs. */
import { X509Certificate, createHash } from "node:crypto";

/** Certificates seen are remembered up to this number: a connection sends the same one with every request. */
const rememberedLimit = 1000;

/** A certificate that was looked at. Whether it is valid at a time is asked at each use. */
export type LookedAt =
  | { readonly certificate: X509Certificate; readonly fingerprint: string; readonly fromMs: number; readonly toMs: number }
  | { readonly rejected: string };

export class CertificateTrust {
  #issuers: readonly X509Certificate[] = [];
  #remembered = new Map<string, LookedAt>();
  /** A connection hands in the same bytes with each request. */
  #byConnection = new WeakMap<Uint8Array, LookedAt>();

  /** `authorities` are PEM. Throws when one is none. */
  constructor(authorities: readonly string[]) {
    this.replace(authorities);
  }

  /** From now on these authorities count. Throws when one is none; then nothing changes. */
  replace(authorities: readonly string[]): void {
    this.#issuers = authorities.map((pem) => new X509Certificate(pem));
    this.#remembered = new Map();
    this.#byConnection = new WeakMap();
  }

  /** `der` is the certificate. The same answer is given for the same bytes until the authorities change. */
  look(der: Uint8Array): LookedAt {
    const known = this.#byConnection.get(der);
    if (known !== undefined) return known;
    const fingerprint = createHash("sha256").update(der).digest("hex");
    let looked = this.#remembered.get(fingerprint);
    if (looked === undefined) {
      looked = this.#verify(der, fingerprint);
      if (this.#remembered.size >= rememberedLimit) this.#remembered.delete(this.#remembered.keys().next().value!);
      this.#remembered.set(fingerprint, looked);
    }
    this.#byConnection.set(der, looked);
    return looked;
  }

  #verify(der: Uint8Array, fingerprint: string): LookedAt {
    const certificate = new X509Certificate(der);
    const issuer = this.#issuers.find((candidate) => certificate.checkIssued(candidate) && certificate.verify(candidate.publicKey));
    if (issuer === undefined) return { rejected: "x509: certificate signed by unknown authority" };
    if (certificate.keyUsage !== undefined && !certificate.keyUsage.includes("1.3.6.1.5.5.7.3.2"))
      return { rejected: "x509: certificate specifies an incompatible key usage" };
    return { certificate, fingerprint, fromMs: certificate.validFromDate.getTime(), toMs: certificate.validToDate.getTime() };
  }
}

/** Why a certificate does not count at a time, or undefined. */
export function faultAt(looked: LookedAt, nowMs: number): string | undefined {
  if ("rejected" in looked) return looked.rejected;
  return nowMs < looked.fromMs || nowMs > looked.toMs ? "x509: certificate has expired or is not yet valid" : undefined;
}

export interface CertificateSubject {
  /** Empty where there is none; of several the last counts. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Under the arc that a certificate may carry a user's uid in. */
  readonly uid: string | undefined;
}

const uidAttribute = "1.3.6.1.4.1.57683.2";

/** What a certificate's subject says, letter by letter: its text form has escapes in it, and joins what stands at one level. */
export function subjectOf(certificate: X509Certificate): CertificateSubject {
  const subject = certificate.toLegacyObject().subject as unknown as Readonly<Record<string, string | string[] | undefined>>;
  const values = (name: string) => [subject[name] ?? []].flat();
  return { commonName: values("CN").at(-1) ?? "", organizations: values("O"), uid: values(uidAttribute).at(-1) };
}

const pemCertificates = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g;

/** The certificates of a bundle, one PEM each. */
export function certificatesOf(bundle: string): readonly string[] {
  return bundle.match(pemCertificates) ?? [];
}
