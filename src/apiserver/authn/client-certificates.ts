/** Client certificates: common name is the user, organizations are the groups (documentation page "X.509 client certificates"). */
import type { UserInfo } from "../../apimachinery/request.ts";
import type { Clock } from "../../base/clock.ts";
import type { AuthenticationResult, Authenticator } from "./authenticator.ts";
import { faultAt, subjectOf } from "./certificate-trust.ts";
import type { CertificateTrust, LookedAt } from "./certificate-trust.ts";

export function clientCertificates(trust: CertificateTrust, clock: Clock): Authenticator {
  /** The same user for the same certificate: what follows from it is kept by others. */
  const users = new WeakMap<LookedAt, AuthenticationResult>();
  return {
    name: "x509",
    authenticate(request) {
      const der = request.peer.certificate;
      if (der === undefined) return undefined;
      const looked = trust.look(der);
      const fault = faultAt(looked, clock.nowMs());
      if (fault !== undefined) return { rejected: fault };
      let result = users.get(looked);
      if (result === undefined) users.set(looked, (result = userOf(looked as Exclude<LookedAt, { rejected: string }>)));
      return result;
    },
  };
}

function userOf({ certificate, fingerprint }: Exclude<LookedAt, { readonly rejected: string }>): AuthenticationResult {
  const { commonName, organizations, uid } = subjectOf(certificate);
  if (commonName === "") return { rejected: "x509: subject has no common name" };
  const user: UserInfo = {
    username: commonName,
    ...(uid !== undefined && { uid }),
    groups: organizations,
    extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] },
  };
  return { user };
}
