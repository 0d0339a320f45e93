/** May this user do that (documentation page "Authorization"). Decisions are data with reasons. */
import { followedBy } from "../../base/eventual.ts";
import type { Eventual } from "../../base/eventual.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { FieldSelector } from "../../apimachinery/selectors/field-selector.ts";
import type { LabelSelector } from "../../apimachinery/selectors/label-selector.ts";

export type AuthorizationAttributes = ResourceAttributes | NonResourceAttributes;

export interface ResourceAttributes {
  readonly kind: "resource";
  readonly user: UserInfo;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Selectors of a list, watch or deletecollection (KEP-4601). */
  readonly fieldSelector?: FieldSelector;
  readonly labelSelector?: LabelSelector;
}

export interface NonResourceAttributes {
  readonly kind: "path";
  readonly user: UserInfo;
  readonly verb: string;
  readonly path: string;
}

export interface Decision {
  readonly verdict: "allow" | "deny" | "no-opinion";
  readonly reason: string;
  /** What kept an authorizer from looking at everything, such as a role that is missing. */
  readonly evaluationError?: string;
}

export interface Authorizer {
  readonly name: string;
  authorize(attributes: AuthorizationAttributes): Eventual<Decision>;
}

export const allowed: Decision = { verdict: "allow", reason: "" };
export const noOpinion: Decision = { verdict: "no-opinion", reason: "" };

/** Asks each in turn until one allows or denies. Reasons of those without opinion are kept, one a line, each with the authorizer's name. */
export function authorizersInOrder(authorizers: readonly Authorizer[]): Authorizer {
  return { name: "union", authorize: (attributes) => new Inquiry(authorizers, attributes).from(0) };
}

class Inquiry {
  readonly #authorizers: readonly Authorizer[];
  readonly #attributes: AuthorizationAttributes;
  readonly #reasons: string[] = [];
  readonly #errors: string[] = [];

  constructor(authorizers: readonly Authorizer[], attributes: AuthorizationAttributes) {
    this.#authorizers = authorizers;
    this.#attributes = attributes;
  }

  from(index: number): Eventual<Decision> {
    const authorizer = this.#authorizers[index];
    if (authorizer === undefined) return this.#withoutOpinion();
    return followedBy(authorizer.authorize(this.#attributes), (decision) => {
      if (decision.evaluationError !== undefined) this.#errors.push(decision.evaluationError);
      if (decision.verdict !== "no-opinion") return decision;
      if (decision.reason !== "") this.#reasons.push(`${authorizer.name}: ${decision.reason}`);
      return this.from(index + 1);
    });
  }

  #withoutOpinion(): Decision {
    const evaluationError = this.#errors.length > 0 && { evaluationError: this.#errors.join("\n") };
    return { verdict: "no-opinion", reason: this.#reasons.join("\n"), ...evaluationError };
  }
}

/** The same authorizer under the name that its reasons bear. */
export function named(name: string, authorizer: Authorizer): Authorizer {
  return { name, authorize: (attributes) => authorizer.authorize(attributes) };
}

/** Members of `system:masters` may do everything, whatever the roles say. */
export const mastersAuthorizer: Authorizer = {
  name: "masters",
  authorize: ({ user }) => (user.groups.includes("system:masters") ? { verdict: "allow", reason: "" } : noOpinion),
};
