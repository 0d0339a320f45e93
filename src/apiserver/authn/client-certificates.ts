/** Client certificates: common name is the user, organizations are the groups (documentation page "X.509 client certificates"). */
import { X509Certificate, createHash } from "node:crypto";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { Clock } from "../../base/clock.ts";
import type { AuthenticationResult, Authenticator } from "./authenticator.ts";

/** OID arc under which a certificate may carry the user's uid. */
const uidAttribute = "1.3.6.1.4.1.57683.2";

/** Certificates seen are remembered up to this number: a connection sends the same one with every request. */
const rememberedLimit = 1000;

/** Accepts certificates signed by one of `authorities` (PEM). */
export function clientCertificates(authorities: readonly string[], clock: Clock): Authenticator {
  const issuers = authorities.map((pem) => new X509Certificate(pem));
  const remembered = new Map<string, Verified>();
  /** A connection hands in the same bytes with each request. */
  const byConnection = new WeakMap<Uint8Array, Verified>();
  return {
    name: "x509",
    authenticate(request) {
      const der = request.peer.certificate;
      if (der === undefined) return undefined;
      const known = byConnection.get(der);
      if (known !== undefined) return resultAt(known, clock.nowMs());
      const fingerprint = createHash("sha256").update(der).digest("hex");
      let verified = remembered.get(fingerprint);
      if (verified === undefined) {
        verified = verify(der, issuers, fingerprint);
        if (remembered.size >= rememberedLimit) remembered.delete(remembered.keys().next().value!);
        remembered.set(fingerprint, verified);
      }
      byConnection.set(der, verified);
      return resultAt(verified, clock.nowMs());
    },
  };
}

type Verified = { readonly user: UserInfo; readonly fromMs: number; readonly toMs: number } | { readonly rejected: string };

function resultAt(verified: Verified, nowMs: number): AuthenticationResult {
  if ("rejected" in verified) return verified;
  if (nowMs < verified.fromMs || nowMs > verified.toMs) return { rejected: "x509: certificate has expired or is not yet valid" };
  return { user: verified.user };
}

function verify(der: Uint8Array, issuers: readonly X509Certificate[], fingerprint: string): Verified {
  const certificate = new X509Certificate(der);
  const issuer = issuers.find((candidate) => certificate.checkIssued(candidate) && certificate.verify(candidate.publicKey));
  if (issuer === undefined) return { rejected: "x509: certificate signed by unknown authority" };
  if (certificate.keyUsage !== undefined && !certificate.keyUsage.includes("1.3.6.1.5.5.7.3.2")) return { rejected: "x509: certificate specifies an incompatible key usage" };
  const subject = parseSubject(certificate.subject);
  const username = subject.get("CN")?.[0] ?? "";
  if (username === "") return { rejected: "x509: subject has no common name" };
  const uid = subject.get(uidAttribute)?.[0];
  return {
    user: {
      username,
      ...(uid !== undefined && { uid }),
      groups: subject.get("O") ?? [],
      extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] },
    },
    fromMs: certificate.validFromDate.getTime(),
    toMs: certificate.validToDate.getTime(),
  };
}

/** Node's subject text: one `KEY=value` a line, repeated keys on several. */
function parseSubject(text: string | undefined): Map<string, string[]> {
  const attributes = new Map<string, string[]>();
  for (const line of (text ?? "").split("\n")) {
    const equals = line.indexOf("=");
    if (equals <= 0) continue;
    const key = line.slice(0, equals);
    attributes.set(key, [...(attributes.get(key) ?? []), line.slice(equals + 1)]);
  }
  return attributes;
}
