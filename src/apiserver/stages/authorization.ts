/** May the user do it. */
import { annotate } from "../admission/audit-annotations.ts";
import { timed } from "../audit/latencies.ts";
import type { RequestContext, Stage } from "../request-context.ts";
import { parseFieldSelector } from "../../apimachinery/selectors/field-selector.ts";
import { SelectorError, parseLabelSelector } from "../../apimachinery/selectors/label-selector.ts";
import type { AuthorizationAttributes, ResourceAttributes } from "../authz/authorizer.ts";
import { refusal } from "../authz/refusal.ts";
import { plainText } from "../http/write-response.ts";

export const authorization: Stage = {
  name: "authorization",
  async run(context, next) {
    const attributes = attributesOf(context);
    const decision = await timed(context, "authorization", async () => context.server.authorizer.authorize(attributes));
    context.server.metrics
      .counter("authorization_attempts_total", "Requests whose sender's rights were looked at.", ["result"])
      .add(1, decision.verdict === "allow" ? "allowed" : decision.verdict === "deny" ? "denied" : "no-opinion");
    if (context.audit !== undefined) {
      annotate(context, "authorization.k8s.io/decision", decision.verdict === "allow" ? "allow" : "forbid");
      annotate(context, "authorization.k8s.io/reason", decision.reason);
    }
    if (decision.verdict !== "allow" && decision.evaluationError !== undefined) {
      // Whoever could not tell might have allowed it: that is our failure, not the caller's lack of rights.
      return plainText(
        500,
        `Internal Server Error: ${JSON.stringify(`${context.request.path}${context.request.query === "" ? "" : `?${context.request.query}`}`)}: ${decision.evaluationError}\n`,
      );
    }
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
  return {
    kind: "resource",
    user,
    verb: info.verb,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    ...(selectingVerbs.has(info.verb) && selectorsOf(context)),
  };
}

const selectingVerbs = new Set(["list", "watch", "deletecollection"]);

/** What a request selects narrows what it needs to be allowed. Selectors that cannot be read do not, and are refused where the list is read. */
function selectorsOf({ query }: RequestContext): Pick<ResourceAttributes, "fieldSelector" | "labelSelector"> {
  const fields = query.get("fieldSelector") ?? "";
  const labels = query.get("labelSelector") ?? "";
  const fieldSelector = fields === "" ? undefined : readable(() => parseFieldSelector(fields));
  const labelSelector = labels === "" ? undefined : readable(() => parseLabelSelector(labels));
  return { ...(fieldSelector !== undefined && { fieldSelector }), ...(labelSelector !== undefined && { labelSelector }) };
}

function readable<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}
