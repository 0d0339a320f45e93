/** May the user do it. */
import { followedBy } from "../../base/eventual.ts";
import type { ApiResponse } from "../../apimachinery/request.ts";
import { annotate } from "../admission/audit-annotations.ts";
import { timed } from "../audit/latencies.ts";
import type { RequestContext, Stage } from "../request-context.ts";
import { parseFieldSelector } from "../../apimachinery/selectors/field-selector.ts";
import { SelectorError, parseLabelSelector } from "../../apimachinery/selectors/label-selector.ts";
import type { AuthorizationAttributes, Decision, ResourceAttributes } from "../authz/authorizer.ts";
import { refusal } from "../authz/refusal.ts";
import { plainText } from "../http/write-response.ts";

export const authorization: Stage = {
  name: "authorization",
  run(context, next) {
    const attributes = attributesOf(context);
    const decided = timed(context, "authorization", () => context.server.authorizer.authorize(attributes));
    return followedBy(decided, (decision) => {
      noteDecision(context, decision);
      if (decision.verdict === "allow") return next();
      // Whoever could not tell might have allowed it: that is our failure, not the caller's lack of rights.
      if (decision.evaluationError !== undefined) return undecided(context, decision.evaluationError);
      context.responseHeaders["x-coracle-refused"] = "1";
      throw refusal(attributes, decision);
    });
  },
};

function noteDecision(context: RequestContext, { verdict, reason }: Decision): void {
  context.server.metrics
    .counter("authorization_attempts_total", "Requests whose sender's rights were looked at.", ["result"])
    .add(1, verdict === "allow" ? "allowed" : verdict === "deny" ? "denied" : "no-opinion");
  if (context.audit === undefined) return;
  annotate(context, "authorization.k8s.io/decision", verdict === "allow" ? "allow" : "forbid");
  annotate(context, "authorization.k8s.io/reason", reason);
}

function undecided({ request }: RequestContext, fault: string): ApiResponse {
  const target = request.query === "" ? request.path : `${request.path}?${request.query}`;
  return plainText(500, `Internal Server Error: ${JSON.stringify(target)}: ${fault}\n`);
}

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
