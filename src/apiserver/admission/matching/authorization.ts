/** Lets expressions ask the authorizer. They cannot wait: a question is put down, answered outside, and the expression evaluated again. */
import { parseFieldSelector } from "../../../apimachinery/selectors/field-selector.ts";
import { parseLabelSelector } from "../../../apimachinery/selectors/label-selector.ts";
import type { UserInfo } from "../../../apimachinery/request.ts";
import type { CelAuthorizationAttributes, CelAuthorizer, CelDecision } from "../../../apimachinery/cel/index.ts";
import type { AuthorizationAttributes, Authorizer } from "../../authz/authorizer.ts";

/** Answers for one request, each found once. */
export class AskedDecisions implements CelAuthorizer {
  readonly #authorizer: Authorizer;
  readonly #user: UserInfo;
  readonly #known = new Map<string, CelDecision>();

  constructor(authorizer: Authorizer, user: UserInfo) {
    this.#authorizer = authorizer;
    this.#user = user;
  }

  /** Throws an `OpenQuestion` when the answer is not there yet. */
  authorize(attributes: CelAuthorizationAttributes): CelDecision {
    const key = JSON.stringify(attributes);
    const known = this.#known.get(key);
    if (known === undefined) throw new OpenQuestion(key, attributes);
    return known;
  }

  async answer({ key, attributes }: OpenQuestion): Promise<void> {
    this.#known.set(key, await this.#ask(attributes));
  }

  async #ask(attributes: CelAuthorizationAttributes): Promise<CelDecision> {
    try {
      const { verdict, reason, evaluationError } = await this.#authorizer.authorize(attributesOf(attributes, this.#user));
      return { isAllowed: verdict === "allow", reason, ...(evaluationError !== undefined && { error: evaluationError }) };
    } catch (error) {
      return { isAllowed: false, reason: "", error: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Thrown through an evaluation. */
export class OpenQuestion extends Error {
  override name = "OpenQuestion";
  readonly key: string;
  readonly attributes: CelAuthorizationAttributes;

  constructor(key: string, attributes: CelAuthorizationAttributes) {
    super("the authorizer has not been asked yet");
    this.key = key;
    this.attributes = attributes;
  }
}

function attributesOf({ serviceAccount, verb, path, resource }: CelAuthorizationAttributes, requester: UserInfo): AuthorizationAttributes {
  const user = serviceAccount === undefined ? requester : accountUser(serviceAccount);
  if (resource === undefined) return { kind: "path", user, verb, path: path ?? "" };
  const { fieldSelector, labelSelector, ...rest } = resource;
  return {
    kind: "resource",
    user,
    verb,
    version: "*",
    ...rest,
    ...(fieldSelector !== "" && { fieldSelector: parseFieldSelector(fieldSelector) }),
    ...(labelSelector !== "" && { labelSelector: parseLabelSelector(labelSelector) }),
  };
}

function accountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): UserInfo {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}
