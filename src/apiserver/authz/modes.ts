/** The authorizers that `--authorization-mode` or an AuthorizationConfiguration names, in order (documentation page "Authorization"). */
import type { Clock } from "../../base/clock.ts";
import { abacAuthorizer } from "./abac.ts";
import { allowed, authorizersInOrder, mastersAuthorizer, named } from "./authorizer.ts";
import type { Authorizer } from "./authorizer.ts";
import type { RuleSource } from "../reviews/rules-review.ts";
import { nodeNameOf } from "./node-identity.ts";
import { webhookAuthorizer } from "./webhook-authorizer.ts";
import type { WebhookAuthorizerOptions } from "./webhook-authorizer.ts";

export interface AuthorizationChoice {
  readonly authorizers: readonly { readonly type: string; readonly name: string; readonly webhook?: WebhookAuthorizerOptions }[];
  /** Content of the ABAC policy file. */
  readonly abacPolicies?: string;
  /** Its name, for faults. */
  readonly abacFile?: string;
}

export const defaultAuthorization: AuthorizationChoice = {
  authorizers: [
    { type: "Node", name: "node" },
    { type: "RBAC", name: "rbac" },
  ],
};

/** The chosen authorizers, which may be replaced while the server runs. */
export class ReplaceableAuthorizers {
  readonly #own: OwnAuthorizers;
  readonly #initial: AuthorizationChoice;
  #current: ChosenAuthorizers;
  readonly authorizer: Authorizer = { name: "union", authorize: (attributes) => this.#current.authorizer.authorize(attributes) };
  readonly ruleSource: RuleSource = {
    rulesFor: (...asked) => this.#current.ruleSource.rulesFor(...asked),
    unresolved: (user) => this.#current.ruleSource.unresolved?.(user) ?? [],
  };

  constructor(choice: AuthorizationChoice, own: OwnAuthorizers) {
    this.#own = own;
    this.#initial = choice;
    this.#current = chosenAuthorizers(choice, own);
  }

  /** Throws an Error for a choice that cannot be used; then nothing changes. */
  replace(choice: AuthorizationChoice): void {
    if (choice.authorizers.length === 0) throw new Error("authorizers: Required value: at least one authorization mode must be defined");
    this.#current = chosenAuthorizers({ ...this.#initial, ...choice }, this.#own);
  }
}

interface OwnAuthorizers {
  readonly node: Authorizer;
  readonly rbac: Authorizer & RuleSource;
  readonly clock: Clock;
}

interface ChosenAuthorizers {
  readonly authorizer: Authorizer;
  readonly ruleSource: RuleSource;
}

/**
 * The union of the chosen authorizers, and what it can list of their rules. Members of `system:masters` come first, whatever is chosen.
 * Throws an Error for a type that is not known.
 */
export function chosenAuthorizers({ authorizers, abacPolicies = "", abacFile = "" }: AuthorizationChoice, own: OwnAuthorizers): ChosenAuthorizers {
  const make = ({ type, name, webhook }: AuthorizationChoice["authorizers"][number]): Authorizer => {
    if (type !== "Webhook" && name !== type.toLowerCase()) throw new Error(`expected name ${type.toLowerCase()} for authorizer ${type} instead of ${name}`);
    switch (type) {
      case "Node":
        return own.node;
      case "RBAC":
        return own.rbac;
      case "ABAC":
        return readAbac(abacPolicies, abacFile);
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
    ruleSource: {
      rulesFor: (user, namespace, missing) => sources.flatMap((source) => [...source.rulesFor(user, namespace, missing)]),
      // The Node authorizer goes by its graph, a webhook by what it is asked.
      unresolved: (user) =>
        authorizers.flatMap(({ type }) =>
          type === "Webhook" || (type === "Node" && nodeNameOf(user) !== undefined)
            ? [`${type.toLowerCase()} authorizer does not support user rule resolution`]
            : [],
        ),
    },
  };
}

function readAbac(policies: string, file: string): Authorizer & RuleSource {
  try {
    return abacAuthorizer(policies, file);
  } catch (error) {
    throw new Error(`invalid authorization config: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
