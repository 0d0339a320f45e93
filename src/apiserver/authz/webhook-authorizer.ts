/** Authorization by a webhook (documentation page "Webhook Mode"; API type apiserver.config.k8s.io/v1 WebhookConfiguration). */
import type { Clock } from "../../base/clock.ts";
import type { SubjectAccessReviewStatus } from "../../api/authorization-v1/types.ts";
import type { FieldSelector } from "../../apimachinery/selectors/field-selector.ts";
import type { LabelRequirement, LabelSelector } from "../../apimachinery/selectors/label-selector.ts";
import { AnswerCache } from "../webhooks/answer-cache.ts";
import { WebhookError, sendReview } from "../webhooks/review-webhook.ts";
import type { ReviewSender } from "../webhooks/review-webhook.ts";
import type { AuthorizationAttributes, Authorizer, Decision } from "./authorizer.ts";
import { compileCondition } from "./match-conditions.ts";

export interface WebhookAuthorizerOptions {
  readonly send: ReviewSender;
  /** `v1` or `v1beta1`. */
  readonly version: string;
  readonly timeoutMs: number;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly failurePolicy: "NoOpinion" | "Deny";
  /** CEL expressions over `request`; the webhook is asked when all are true. */
  readonly matchConditions: readonly string[];
}

/** Throws ExpressionError when a condition does not compile. */
export function webhookAuthorizer(options: WebhookAuthorizerOptions, clock: Clock): Authorizer {
  const cache = new AnswerCache<Decision>(clock);
  const conditions = options.matchConditions.map(compileCondition);
  const webhook = {
    send: options.send,
    clock,
    kind: "SubjectAccessReview",
    apiVersion: `authorization.k8s.io/${options.version}`,
    timeoutMs: options.timeoutMs,
  } as const;
  const verdictOnFailure = options.failurePolicy === "Deny" ? "deny" : "no-opinion";
  return {
    name: "webhook",
    async authorize(attributes) {
      const spec = specOf(attributes, options.version);
      const matched = matchAll(conditions, options.version === "v1" ? spec : specOf(attributes, "v1"));
      if (matched === false) return { verdict: "no-opinion", reason: "" };
      if (matched !== true) return { verdict: verdictOnFailure, reason: "", evaluationError: matched.fault };
      const question = JSON.stringify(spec);
      const known = cache.get(question);
      if (known !== undefined) return known;
      try {
        const decision = decisionOf(await sendReview<SubjectAccessReviewStatus>(webhook, spec, { allowed: false }));
        cache.set(question, decision, decision.verdict === "allow" ? options.authorizedTtlMs : options.unauthorizedTtlMs);
        return decision;
      } catch (error) {
        if (error instanceof WebhookError) return { verdict: verdictOnFailure, reason: "", evaluationError: error.message };
        throw error;
      }
    },
  };
}

function decisionOf({ allowed = false, denied = false, reason = "" }: SubjectAccessReviewStatus): Decision {
  if (allowed && denied) throw new WebhookError("webhook subject access review returned both allow and deny response");
  return { verdict: allowed ? "allow" : denied ? "deny" : "no-opinion", reason };
}

/** One false condition settles it, whatever others fail. */
function matchAll(conditions: readonly ReturnType<typeof compileCondition>[], request: object): boolean | { readonly fault: string } {
  const results = conditions.map((condition) => condition(request));
  if (results.includes(false)) return false;
  const faults = results.flatMap((result) => (typeof result === "object" ? [result.fault] : []));
  return faults.length === 0 ? true : { fault: faults.length === 1 ? faults[0]! : `[${faults.join(", ")}]` };
}

/** The spec of the review; empty members are left out. Version v1beta1 calls the groups `group`. */
function specOf(attributes: AuthorizationAttributes, version: string): object {
  const { username, groups, extra, uid } = attributes.user;
  return {
    ...(attributes.kind === "resource"
      ? { resourceAttributes: resourceOf(attributes) }
      : { nonResourceAttributes: present({ path: attributes.path, verb: attributes.verb }) }),
    ...present({ user: username }),
    ...(groups.length > 0 && { [version === "v1beta1" ? "group" : "groups"]: groups }),
    ...(extra !== undefined && { extra }),
    ...present({ uid: uid ?? "" }),
  };
}

function resourceOf({
  namespace,
  verb,
  group,
  version,
  resource,
  subresource,
  name,
  fieldSelector,
  labelSelector,
}: Extract<AuthorizationAttributes, { kind: "resource" }>): object {
  return {
    ...present({ namespace, verb, group, version, resource, subresource, name }),
    ...(fieldSelector !== undefined && fieldSelector.length > 0 && { fieldSelector: { requirements: fieldRequirements(fieldSelector) } }),
    ...(labelSelector !== undefined && labelSelector.requirements.length > 0 && { labelSelector: { requirements: labelRequirements(labelSelector) } }),
  };
}

function present(members: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ""));
}

function fieldRequirements(selector: FieldSelector): object[] {
  return selector.map(({ field, isEqual, value }) => ({ key: field, operator: isEqual ? "In" : "NotIn", values: [value] }));
}

const operators: Readonly<Record<LabelRequirement["operator"], string | undefined>> = {
  in: "In",
  "=": "In",
  "==": "In",
  notin: "NotIn",
  "!=": "NotIn",
  exists: "Exists",
  "!": "DoesNotExist",
  gt: undefined,
  lt: undefined,
};

/** Comparisons have no form in a review: they do not narrow the question. */
function labelRequirements({ requirements }: LabelSelector): object[] {
  return requirements.flatMap(({ key, operator, values }) => {
    const name = operators[operator];
    if (name === undefined) return [];
    return [{ key, operator: name, ...(values.size > 0 && { values: [...values].sort() }) }];
  });
}
