/** The authorizers that `--authorization-mode` or an AuthorizationConfiguration names, in order (documentation page "Authorization"). */
import { abacAuthorizer } from "./abac.ts";
import { allowed, authorizersInOrder, mastersAuthorizer, named } from "./authorizer.ts";
import type { Authorizer } from "./authorizer.ts";
import type { RuleSource } from "../reviews/rules-review.ts";

export interface AuthorizationChoice {
  readonly authorizers: readonly { readonly type: string; readonly name: string }[];
  /** Content of the ABAC policy file. */
  readonly abacPolicies?: string;
}

export const defaultAuthorization: AuthorizationChoice = { authorizers: [{ type: "Node", name: "node" }, { type: "RBAC", name: "rbac" }] };

/**
 * The union of the chosen authorizers, and what it can list of their rules. Members of `system:masters` come first, whatever is chosen.
 * Throws an Error for a type that is not known.
 */
export function chosenAuthorizers({ authorizers, abacPolicies = "" }: AuthorizationChoice, own: { readonly node: Authorizer; readonly rbac: Authorizer & RuleSource }): { readonly authorizer: Authorizer; readonly ruleSource: RuleSource } {
  const make = (type: string): Authorizer => {
    switch (type) {
      case "Node":
        return own.node;
      case "RBAC":
        return own.rbac;
      case "ABAC":
        return abacAuthorizer(abacPolicies);
      case "AlwaysAllow":
        return { name: "alwaysallow", authorize: () => allowed };
      case "AlwaysDeny":
        return { name: "alwaysdeny", authorize: () => ({ verdict: "no-opinion", reason: "Everything is forbidden." }) };
      default:
        throw new Error(`unknown authorization mode ${type} specified`);
    }
  };
  const made = authorizers.map(({ type, name }) => ({ name, own: make(type) }));
  const sources = made.map((one) => one.own).filter((one): one is Authorizer & RuleSource => "rulesFor" in one);
  return {
    authorizer: authorizersInOrder([mastersAuthorizer, ...made.map((one) => named(one.name, one.own))]),
    ruleSource: { rulesFor: (user, namespace, missing) => sources.flatMap((source) => [...source.rulesFor(user, namespace, missing)]) },
  };
}
