/** TokenReview: whether a token is good, and whose it is. */
import type { TokenReview } from "../../api/authentication-v1/types.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { badRequestError } from "../../apimachinery/status.ts";
import type { RequestContext } from "../request-context.ts";
import { userInfoJson } from "./self-review.ts";

export async function reviewTokenObject(object: KubeObject, { server }: RequestContext): Promise<KubeObject> {
  const { spec, status } = object as unknown as TokenReview;
  const token = spec?.token ?? "";
  if (token === "") throw badRequestError("token is required for TokenReview in authentication");
  const result = await server.bearerTokens.review(token, spec?.audiences ?? []);
  if ("rejected" in result) {
    const { authenticated: _, ...given } = status ?? {};
    return { ...object, status: { ...given, user: given.user ?? {}, error: result.rejected } };
  }
  const groups = result.user.groups.includes("system:authenticated") ? result.user.groups : [...result.user.groups, "system:authenticated"];
  return { ...object, status: { authenticated: true, user: userInfoJson({ ...result.user, groups }), audiences: [...result.audiences] } };
}
