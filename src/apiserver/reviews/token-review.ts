/** TokenReview: whether a token is good, and whose it is. */
import type { TokenReview } from "../../api/authentication-v1/types.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { badRequestError } from "../../apimachinery/status.ts";
import type { ApiRequest } from "../../apimachinery/request.ts";
import { reviewToken } from "../authn/service-account-tokens.ts";
import { findObject } from "../registry/rule-context.ts";
import type { RequestContext } from "../request-context.ts";
import { userInfoJson } from "./self-review.ts";

export async function reviewTokenObject(object: KubeObject, context: RequestContext): Promise<KubeObject> {
  const review = object as unknown as TokenReview;
  const token = review.spec?.token ?? "";
  if (token === "") throw badRequestError("token is required for TokenReview in authentication");
  const { server } = context;
  const asked = review.spec?.audiences ?? [];
  const audiences = asked.length === 0 ? server.tokens.audiences : asked;
  const result = reviewToken(server.tokens, token, { nowMs: server.clock.nowMs(), audiences, find: (resource, namespace, name) => findObject(server, resource, namespace, name) });
  if ("user" in result) {
    const user = { ...result.user, groups: [...result.user.groups, "system:authenticated"] };
    return { ...object, status: { authenticated: true, user: userInfoJson(user), audiences: [...result.audiences] } };
  }
  const other = await server.authenticator.authenticate(requestWith(token, context));
  if (other !== undefined && "user" in other) return { ...object, status: { authenticated: true, user: userInfoJson(other.user), audiences: [...audiences] } };
  return { ...object, status: { user: {}, error: `[invalid bearer token, ${result.fault}]` } };
}

/** A request that carries nothing but the token. */
function requestWith(token: string, context: RequestContext): ApiRequest {
  return { ...context.request, headers: { authorization: `Bearer ${token}` }, peer: { address: context.request.peer.address, isHttp2: false } };
}
