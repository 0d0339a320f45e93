/**
 * Identity that a front proxy gives in headers (documentation page "Authenticating Proxy"). The headers count only from a client whose
 * certificate is of the proxies' own authority and bears one of their names; from anybody else they mean nothing.
 */
import type { ApiRequest } from "../../apimachinery/request.ts";
import type { Clock } from "../../base/clock.ts";
import type { Authenticator } from "./authenticator.ts";
import { faultAt, subjectOf } from "./certificate-trust.ts";
import type { CertificateTrust } from "./certificate-trust.ts";

/** Names of headers are lower-case. */
export interface RequestHeaderNames {
  /** Common names of proxies; none: every certificate of their authority. */
  readonly allowedNames: readonly string[];
  readonly username: readonly string[];
  readonly uid: readonly string[];
  readonly group: readonly string[];
  readonly extraPrefixes: readonly string[];
}

export function requestHeaders(trust: CertificateTrust, names: RequestHeaderNames, clock: Clock): Authenticator {
  return {
    name: "request-header",
    authenticate(request) {
      const der = request.peer.certificate;
      // Who brings no certificate is asked for credentials of another kind.
      if (der === undefined) return undefined;
      const looked = trust.look(der);
      const fault = faultAt(looked, clock.nowMs());
      if (fault !== undefined || "rejected" in looked) return { rejected: fault ?? "" };
      const { commonName } = subjectOf(looked.certificate);
      if (names.allowedNames.length > 0 && !names.allowedNames.includes(commonName))
        return { rejected: `x509: subject with cn=${commonName} is not in the allowed list` };
      return userOf(request, names);
    },
  };
}

function userOf({ headers }: ApiRequest, names: RequestHeaderNames): ReturnType<Authenticator["authenticate"]> {
  const first = (wanted: readonly string[]) => wanted.map((name) => valuesOf(headers[name])[0] ?? "").find((value) => value !== "") ?? "";
  const username = first(names.username);
  if (username === "") return undefined;
  const uid = first(names.uid);
  const groups = names.group.flatMap((name) => valuesOf(headers[name]));
  const extra = new Map<string, readonly string[]>();
  for (const prefix of names.extraPrefixes) {
    for (const name of Object.keys(headers)) if (name.startsWith(prefix)) extra.set(unescapeKey(name.slice(prefix.length)), valuesOf(headers[name]));
  }
  return { user: { username, groups, ...(uid !== "" && { uid }), ...(extra.size > 0 && { extra: Object.fromEntries(extra) }) } };
}

/** Repeated headers reach us joined with a line feed. */
function valuesOf(value: string | undefined): readonly string[] {
  return value === undefined ? [] : value.split("\n").filter((item) => item !== "");
}

/** Keys are percent-encoded; one that is not readable stays as it is. */
function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
