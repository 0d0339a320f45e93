/** May the user do it. */
import type { RequestContext, Stage } from "../request-context.ts";
import type { AuthorizationAttributes } from "../authz/authorizer.ts";
import { refusal } from "../authz/refusal.ts";

export const authorization: Stage = {
  name: "authorization",
  async run(context, next) {
    const attributes = attributesOf(context);
    const decision = await context.server.authorizer.authorize(attributes);
    if (decision.verdict !== "allow") {
      context.responseHeaders["x-coracle-refused"] = "1";
      throw refusal(attributes, decision);
    }
    return next();
  },
};

export function attributesOf(context: RequestContext): AuthorizationAttributes {
  const { info, user } = context;
  if (!info.isResourceRequest) return { kind: "path", user, verb: info.verb, path: info.path };
  return { kind: "resource", user, verb: info.verb, group: info.group, version: info.version, resource: info.resource, subresource: info.subresource, namespace: info.namespace, name: info.name };
}
