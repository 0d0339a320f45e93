/** The authorizers that `--authorization-mode` or an AuthorizationConfiguration names, in order (documentation page "Authorization"). */
import type { Clock } from "../../base/clock.ts";
import { abacAuthorizer } from "./abac.ts";
import { allowed, authorizersInOrder, mastersAuthorizer, named } from "./authorizer.ts";
import type { Authorizer } from "./authorizer.ts";
import type { RuleSource } from "../reviews/rules-review.ts";
import { webhookAuthorizer } from "./webhook-authorizer.ts";
import type { WebhookAuthorizerOptions } from "./webhook-authorizer.ts";

export interface AuthorizationChoice {
  readonly authorizers: readonly { readonly type: string; readonly name: string; readonly webhook?: WebhookAuthorizerOptions }[];
  /** Content of the ABAC policy file. */
  readonly abacPolicies?: string;
}

export const defaultAuthorization: AuthorizationChoice = { authorizers: [{ type: "Node", name: "node" }, { type: "RBAC", name: "rbac" }] };

/**
 * The union of the chosen authorizers, and what it can list of their rules. Members of `system:masters` come first, whatever is chosen.
 * Throws an Error for a type that is not known.
 */
export function chosenAuthorizers({ authorizers, abacPolicies = "" }: AuthorizationChoice, own: { readonly node: Authorizer; readonly rbac: Authorizer & RuleSource; readonly clock: Clock }): { readonly authorizer: Authorizer; readonly ruleSource: RuleSource } {
  const make = ({ type, webhook }: AuthorizationChoice["authorizers"][number]): Authorizer => {
    switch (type) {
      case "Node":
        return own.node;
      case "RBAC":
        return own.rbac;
      case "ABAC":
        return abacAuthorizer(abacPolicies);
      case "Webhook":
        if (webhook === undefined) throw new Error("webhook required when using a Webhook authorizer");
        return webhookAuthorizer(webhook, own.clock);
      case "AlwaysAllow":
        return { name: "alwaysallow", authorize: () => allowed };
      case "AlwaysDeny":
        return { name: "alwaysdeny", authorize: () => ({ verdict: "no-opinion", reason: "Everything is forbidden." }) };
      default:
        throw new Error(`unknown authorization mode ${type} specified`);
    }
  };
  const made = authorizers.map((chosen) => ({ name: chosen.name, own: make(chosen) }));
  const sources = made.map((one) => one.own).filter((one): one is Authorizer & RuleSource => "rulesFor" in one);
  return {
    authorizer: authorizersInOrder([mastersAuthorizer, ...made.map((one) => named(one.name, one.own))]),
    ruleSource: { rulesFor: (user, namespace, missing) => sources.flatMap((source) => [...source.rulesFor(user, namespace, missing)]) },
  };
}
