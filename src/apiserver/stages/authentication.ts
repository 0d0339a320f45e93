/** Who is asking. Wrong credentials are refused; none at all make an anonymous user, where that is allowed. */
import { unauthorizedError } from "../../apimachinery/status.ts";
import { allowsAnonymous } from "../authn/anonymous.ts";
import { anonymousUser } from "../authn/authenticator.ts";
import { readBearer } from "../authn/bearer-tokens.ts";
import type { Stage } from "../request-context.ts";

export const authentication: Stage = {
  name: "authentication",
  async run(context, next) {
    if (readBearer(context.request).hasExtraSpace) context.warnings.add("the provided Authorization header contains extra space before the bearer token, and is ignored");
    const result = await context.server.authenticator.authenticate(context.request);
    if (result === undefined) {
      if (!allowsAnonymous(context.server.anonymous, context.info.path)) throw unauthorizedError();
      context.user = anonymousUser;
    } else if ("rejected" in result) {
      throw unauthorizedError();
    } else {
      context.user = result.user;
    }
    return next();
  },
};
