/** Lets the API server decide who may ask a component's own server what (Kubernetes' delegated authentication and authorization). */
import { faultAt, subjectOf } from "../../../apiserver/authn/certificate-trust.ts";
import type { CertificateTrust, LookedAt } from "../../../apiserver/authn/certificate-trust.ts";
import { StatusError } from "../../../apimachinery/status.ts";
import { bytesResponse } from "../../../apimachinery/request.ts";
import { resources } from "../../../client/index.ts";
import type { ApiRequest, ApiResponse, UserInfo } from "../../../apimachinery/request.ts";
import type { Client } from "../../../client/index.ts";

/** Wraps a handler: health is for everybody, all else for whom a SubjectAccessReview allows the path. */
export function delegatedAccess(handler: Handler, options: DelegatedAccessOptions): Handler {
  return async (request) => {
    if (isHealth(request.path)) return handler(request);
    const user = await userOf(request, options);
    if (user === undefined) return refusal(new StatusError({ message: "Unauthorized", code: 401, reason: "Unauthorized" }));
    const path = request.path;
    const verb = request.method.toLowerCase();
    const { username: name, groups = [] } = user;
    const review = { metadata: {}, spec: { user: name, groups: [...groups], nonResourceAttributes: { path, verb } } };
    const { status } = await options.client.create(resources.subjectAccessReviews, review);
    if (status?.allowed === true) return handler(request);
    const message = `forbidden: User ${JSON.stringify(name)} cannot ${verb} path ${JSON.stringify(path)}`;
    return refusal(new StatusError({ message, code: 403, reason: "Forbidden" }));
  };
}

type Handler = (request: ApiRequest) => Promise<ApiResponse>;

export interface DelegatedAccessOptions {
  readonly client: Client;
  /** Whose client certificates are believed. */
  readonly trust: CertificateTrust;
  readonly nowMs: () => number;
}

const isHealth = (path: string) => ["/healthz", "/livez", "/readyz"].includes(path);
const anonymous: UserInfo = { username: "system:anonymous", groups: ["system:unauthenticated"] };

/** Undefined for a token that is not good. */
async function userOf({ peer, headers }: ApiRequest, { client, trust, nowMs }: DelegatedAccessOptions): Promise<UserInfo | undefined> {
  const fromCertificate = peer.certificate && certificateUser(trust.look(peer.certificate), nowMs());
  if (fromCertificate !== undefined) return fromCertificate;
  const token = /^Bearer (.+)$/i.exec(headers["authorization"] ?? "")?.[1];
  if (token === undefined) return anonymous;
  const { status } = await client.create(resources.tokenReviews, { metadata: {}, spec: { token } });
  if (status?.authenticated !== true) return undefined;
  return { username: status.user?.username ?? "", groups: status.user?.groups ?? [] };
}

function certificateUser(looked: LookedAt, nowMs: number): UserInfo | undefined {
  if ("rejected" in looked || faultAt(looked, nowMs) !== undefined) return undefined;
  const { commonName, organizations } = subjectOf(looked.certificate);
  return commonName === "" ? undefined : { username: commonName, groups: [...organizations, "system:authenticated"] };
}

function refusal({ status }: StatusError): ApiResponse {
  return bytesResponse(status.code ?? 500, "application/json", JSON.stringify(status));
}
