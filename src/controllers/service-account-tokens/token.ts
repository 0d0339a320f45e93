import { createHash, createPublicKey, sign } from "node:crypto";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Secret, ServiceAccount } from "../../api/core-v1/types.ts";

/** Signs the token that a Secret of type `kubernetes.io/service-account-token` carries: it does not expire (documentation page "Managing Service Accounts"). */
export function signLegacyToken(privateKey: string, account: DeepReadonly<ServiceAccount>, secret: DeepReadonly<Secret>): string {
  const { namespace = "", name = "", uid = "" } = account.metadata;
  const prefix = "kubernetes.io/serviceaccount";
  const claims = {
    iss: "kubernetes/serviceaccount",
    [`${prefix}/namespace`]: namespace,
    [`${prefix}/secret.name`]: secret.metadata.name,
    [`${prefix}/service-account.name`]: name,
    [`${prefix}/service-account.uid`]: uid,
    sub: `system:serviceaccount:${namespace}:${name}`,
  };
  const publicKey = createPublicKey(privateKey);
  const isRsa = publicKey.asymmetricKeyType === "rsa";
  const header = {
    alg: isRsa ? "RS256" : "ES256",
    kid: createHash("sha256")
      .update(publicKey.export({ type: "spki", format: "der" }))
      .digest("base64url"),
  };
  const content = `${encoded(header)}.${encoded(claims)}`;
  const signature = sign("sha256", Buffer.from(content), isRsa ? privateKey : { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${content}.${signature.toString("base64url")}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
