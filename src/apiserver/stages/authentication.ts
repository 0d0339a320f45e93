/** Who is asking. Wrong credentials are refused; none at all make an anonymous user, where that is allowed. */
import { followedBy } from "../../base/eventual.ts";
import { unauthorizedError } from "../../apimachinery/status.ts";
import { timed } from "../audit/latencies.ts";
import { allowsAnonymous } from "../authn/anonymous.ts";
import { anonymousUser } from "../authn/authenticator.ts";
import { readBearer } from "../authn/bearer-tokens.ts";
import type { RequestContext, Stage } from "../request-context.ts";

export const authentication: Stage = {
  name: "authentication",
  run(context, next) {
    if (readBearer(context.request).hasExtraSpace)
      context.warnings.add("the provided Authorization header contains extra space before the bearer token, and is ignored");
    const { server } = context;
    const found = timed(context, "authentication", () => server.authenticator.authenticate(context.request));
    return followedBy(found, (result) => {
      if (result === undefined) {
        if (!allowsAnonymous(server.anonymous, context.info.path)) return refused(context);
        context.user = anonymousUser;
      } else if ("rejected" in result) {
        return refused(context);
      } else {
        context.user = result.user;
      }
      return next();
    });
  },
};

/** Told to the audit here: nobody is known whom later stages could tell of. */
async function refused(context: RequestContext): Promise<never> {
  const error = unauthorizedError();
  const { audit } = context.server;
  const record = audit?.begin(context, undefined);
  if (record !== undefined) {
    record.noteStatus(401, error.status);
    await audit!.tell(record, "ResponseStarted");
  }
  throw error;
}
