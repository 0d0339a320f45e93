/** Asking whether the requesting user (or a service account) may do something. Who decides is the caller's: an `Authorizer` in the variables. */
import { labelName, subdomainName } from "../../names.ts";
import { declare, memberOverload } from "../check/declarations.ts";
import type { Implementation } from "../check/declarations.ts";
import { boolType, closedStructType, stringType } from "../check/types.ts";
import type { CelType } from "../check/types.ts";
import type { Library } from "../environment.ts";
import { CelError, OpaqueValue } from "../eval/values.ts";
import type { Value } from "../eval/values.ts";

/** Answers at once: expressions do not wait. */
export interface CelAuthorizer {
  authorize(attributes: CelAuthorizationAttributes): CelDecision;
}

/** `serviceAccount` absent: the user of the request. */
export interface CelAuthorizationAttributes {
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly verb: string;
  /** For paths that are no resources. */
  readonly path?: string;
  readonly resource?: CelResourceAttributes;
}

export interface CelResourceAttributes {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** As they were given, "" for none; the authorizer reads them. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

export interface CelDecision {
  readonly isAllowed: boolean;
  readonly reason: string;
  readonly error?: string;
}

export const authorizerType = closedStructType("kubernetes.authorization.Authorizer");
export const pathCheckType = closedStructType("kubernetes.authorization.PathCheck");
export const groupCheckType = closedStructType("kubernetes.authorization.GroupCheck");
export const resourceCheckType = closedStructType("kubernetes.authorization.ResourceCheck");
export const decisionType = closedStructType("kubernetes.authorization.Decision");

/** A step of a question; equal to nothing but itself. */
abstract class AuthorizationValue extends OpaqueValue {
  override equals(other: OpaqueValue): boolean {
    return other === this;
  }
}

export class AuthorizerValue extends AuthorizationValue {
  readonly authorizer: CelAuthorizer;
  readonly serviceAccount: CelAuthorizationAttributes["serviceAccount"];
  constructor(authorizer: CelAuthorizer, serviceAccount?: CelAuthorizationAttributes["serviceAccount"]) {
    super();
    this.authorizer = authorizer;
    this.serviceAccount = serviceAccount;
  }
  override get typeName(): string {
    return authorizerType.name;
  }
  check(verb: string, about: Pick<CelAuthorizationAttributes, "path" | "resource">): Value {
    return new DecisionValue(this.authorizer.authorize({ verb, ...about, ...(this.serviceAccount && { serviceAccount: this.serviceAccount }) }));
  }
}

class PathCheckValue extends AuthorizationValue {
  readonly by: AuthorizerValue;
  readonly path: string;
  constructor(by: AuthorizerValue, path: string) {
    super();
    this.by = by;
    this.path = path;
  }
  override get typeName(): string {
    return pathCheckType.name;
  }
}

class GroupCheckValue extends AuthorizationValue {
  readonly by: AuthorizerValue;
  readonly group: string;
  constructor(by: AuthorizerValue, group: string) {
    super();
    this.by = by;
    this.group = group;
  }
  override get typeName(): string {
    return groupCheckType.name;
  }
}

/** Also `authorizer.requestResource`: the resource that the request is about. */
export class ResourceCheckValue extends AuthorizationValue {
  readonly by: AuthorizerValue;
  readonly resource: CelResourceAttributes;
  constructor(by: AuthorizerValue, resource: CelResourceAttributes) {
    super();
    this.by = by;
    this.resource = resource;
  }
  override get typeName(): string {
    return resourceCheckType.name;
  }
}

class DecisionValue extends AuthorizationValue {
  readonly decision: CelDecision;
  constructor(decision: CelDecision) {
    super();
    this.decision = decision;
  }
  override get typeName(): string {
    return decisionType.name;
  }
}

function narrowing(name: string, field: keyof CelResourceAttributes, id = `resourcecheck_${name}`) {
  return declare(
    name,
    memberOverload(id, [resourceCheckType, stringType], resourceCheckType, (check, value) => {
      const { by, resource } = check as ResourceCheckValue;
      return new ResourceCheckValue(by, { ...resource, [field]: value as string });
    }),
  );
}

function reading(name: string, result: CelType, read: (decision: CelDecision) => Value) {
  const implementation: Implementation = (value) => read((value as DecisionValue).decision);
  return declare(name, memberOverload(`decision_${name}`, [decisionType], result, implementation));
}

export const authorizationLibrary: Library = {
  name: "authorization",
  types: new Map([authorizerType, pathCheckType, groupCheckType, resourceCheckType, decisionType].map((type) => [type.name, type])),
  functions: [
    declare(
      "path",
      memberOverload("authorizer_path", [authorizerType, stringType], pathCheckType, (by, path) =>
        isBlank(path) ? new CelError("path must not be empty") : new PathCheckValue(by as AuthorizerValue, path as string),
      ),
    ),
    declare(
      "group",
      memberOverload(
        "authorizer_group",
        [authorizerType, stringType],
        groupCheckType,
        (by, group) => new GroupCheckValue(by as AuthorizerValue, group as string),
      ),
    ),
    declare("serviceAccount", memberOverload("authorizer_serviceaccount", [authorizerType, stringType, stringType], authorizerType, forServiceAccount)),
    declare(
      "resource",
      memberOverload("groupcheck_resource", [groupCheckType, stringType], resourceCheckType, (check, resource) => {
        if (isBlank(resource)) return new CelError("resource must not be empty");
        const { by, group } = check as GroupCheckValue;
        return new ResourceCheckValue(by, {
          group,
          resource: resource as string,
          subresource: "",
          namespace: "",
          name: "",
          fieldSelector: "",
          labelSelector: "",
        });
      }),
    ),
    narrowing("subresource", "subresource"),
    narrowing("namespace", "namespace"),
    narrowing("name", "name"),
    narrowing("fieldSelector", "fieldSelector", "authorizer_fieldselector"),
    narrowing("labelSelector", "labelSelector", "authorizer_labelselector"),
    declare(
      "check",
      memberOverload("pathcheck_check", [pathCheckType, stringType], decisionType, (check, verb) =>
        (check as PathCheckValue).by.check(verb as string, { path: (check as PathCheckValue).path }),
      ),
      memberOverload("resourcecheck_check", [resourceCheckType, stringType], decisionType, (check, verb) =>
        (check as ResourceCheckValue).by.check(verb as string, { resource: (check as ResourceCheckValue).resource }),
      ),
    ),
    reading("errored", boolType, (decision) => decision.error !== undefined),
    reading("error", stringType, (decision) => decision.error ?? ""),
    reading("allowed", boolType, (decision) => decision.isAllowed),
    reading("reason", stringType, (decision) => decision.reason),
  ],
};

function isBlank(text: Value): boolean {
  return (text as string).trim() === "";
}

function forServiceAccount(by: Value, namespace: Value, name: Value): Value {
  if (subdomainName(name as string).length > 0) return new CelError("Invalid service account name");
  if (labelName(namespace as string).length > 0) return new CelError("Invalid service account namespace");
  return new AuthorizerValue((by as AuthorizerValue).authorizer, { namespace: namespace as string, name: name as string });
}
