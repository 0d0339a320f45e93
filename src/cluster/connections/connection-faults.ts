/** Failures of connections, worded as Kubernetes' clients word them. */
import { isIP } from "node:net";

const unknownAuthority = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_UNTRUSTED",
]);

/** What went wrong with a connection to `address`, where a server called `name` was expected. */
export function connectionFault(error: unknown, name: string, address: { readonly host: string; readonly port: number }): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const { host } = address;
  const dialled = `${host.includes(":") ? `[${host}]` : host}:${address.port}`;
  if (unknownAuthority.has(code)) return "tls: failed to verify certificate: x509: certificate signed by unknown authority";
  switch (code) {
    case "ECONNREFUSED":
      return `dial tcp ${dialled}: connect: connection refused`;
    case "EHOSTUNREACH":
      return `dial tcp ${dialled}: connect: no route to host`;
    case "ENETUNREACH":
      return `dial tcp ${dialled}: connect: network is unreachable`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `dial tcp: lookup ${host}: no such host`;
    case "ECONNRESET":
      // In the midst of an answer, and before one.
      return message === "aborted" ? "unexpected EOF" : "EOF";
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
      return "tls: failed to verify certificate: x509: certificate has expired or is not yet valid";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `tls: failed to verify certificate: x509: ${identityFault(name, error as { cert?: { subjectaltname?: string } })}`;
    default:
      return message;
  }
}

function identityFault(host: string, { cert }: { readonly cert?: { readonly subjectaltname?: string } }): string {
  const names = (cert?.subjectaltname ?? "").split(", ").filter((name) => name !== "");
  const of = (kind: string) => names.flatMap((name) => (name.startsWith(kind) ? [name.slice(kind.length)] : []));
  const valid = isIP(host) === 0 ? of("DNS:") : of("IP Address:");
  if (valid.length > 0) return `certificate is valid for ${valid.join(", ")}, not ${host}`;
  if (isIP(host) !== 0) return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
  return `certificate is not valid for any names, but wanted to match ${host}`;
}
