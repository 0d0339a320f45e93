/** Types of the variables that Kubernetes gives expressions: what a request is, who makes it, the namespace it is in. */
import { closedStructType, dynType, listType, mapType, boolType, intType, optionalType, stringType, timestampType } from "../check/types.ts";
import type { CelType, StructType } from "../check/types.ts";
import { authorizerType, resourceCheckType } from "../library/authorization.ts";
import { quantityType } from "../library/quantities.ts";

/** An object type whose fields are called the same in JSON and in CEL. */
export function structOf(name: string, fields: Readonly<Record<string, CelType>>): StructType {
  return {
    kind: "struct",
    name,
    field: (field) => (Object.hasOwn(fields, field) ? { type: fields[field]! } : undefined),
  };
}

const texts = listType(stringType);

export const userInfoType = structOf("kubernetes.UserInfo", { username: stringType, uid: stringType, groups: texts, extra: mapType(stringType, texts) });

const kindType = structOf("kubernetes.GroupVersionKind", { group: stringType, version: stringType, kind: stringType });
const resourceType = structOf("kubernetes.GroupVersionResource", { group: stringType, version: stringType, resource: stringType });

/** `request` of admission policies and match conditions of webhooks. */
export const admissionRequestType = structOf("kubernetes.AdmissionRequest", {
  kind: kindType,
  resource: resourceType,
  subResource: stringType,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo: userInfoType,
  dryRun: boolType,
  options: dynType,
});

const namespaceMetaType = structOf("kubernetes.NamespaceMetadata", {
  name: stringType,
  generateName: stringType,
  namespace: stringType,
  labels: mapType(stringType, stringType),
  annotations: mapType(stringType, stringType),
  UID: stringType,
  creationTimestamp: timestampType,
  deletionGracePeriodSeconds: intType,
  deletionTimestamp: timestampType,
  generation: intType,
  resourceVersion: stringType,
  finalizers: texts,
});

/** `namespaceObject` of admission policies. */
export const namespaceType = structOf("kubernetes.Namespace", {
  metadata: namespaceMetaType,
  spec: structOf("kubernetes.NamespaceSpec", { finalizers: texts }),
  status: structOf("kubernetes.NamespaceStatus", { phase: stringType }),
});

/** Variables of admission policies and of match conditions; parameters and `variables` only where there are any. */
export function admissionVariables(
  options: { readonly hasParams?: boolean; readonly hasAuthorizer?: boolean; readonly variables?: StructType } = {},
): Record<string, CelType> {
  return {
    object: dynType,
    oldObject: dynType,
    request: admissionRequestType,
    namespaceObject: namespaceType,
    ...(options.hasParams === true && { params: dynType }),
    ...(options.hasAuthorizer !== false && { authorizer: authorizerType, "authorizer.requestResource": resourceCheckType }),
    ...(options.variables && { variables: options.variables }),
  };
}

/** `variables` of a policy: those defined so far. */
export function policyVariablesType(types: Readonly<Record<string, CelType>>): StructType {
  return structOf("kubernetes.variables", types);
}

const selectorType = (name: string) =>
  structOf(name, {
    rawSelector: stringType,
    requirements: listType(structOf(`${name}Requirement`, { key: stringType, operator: stringType, values: texts })),
  });

/** `request` of match conditions of authorization webhooks: the spec of a SubjectAccessReview. */
export const accessReviewType = structOf("kubernetes.SubjectAccessReviewSpec", {
  resourceAttributes: structOf("kubernetes.ResourceAttributes", {
    namespace: stringType,
    verb: stringType,
    group: stringType,
    version: stringType,
    resource: stringType,
    subresource: stringType,
    name: stringType,
    fieldSelector: selectorType("kubernetes.FieldSelectorAttributes"),
    labelSelector: selectorType("kubernetes.LabelSelectorAttributes"),
  }),
  nonResourceAttributes: structOf("kubernetes.NonResourceAttributes", { path: stringType, verb: stringType }),
  user: stringType,
  groups: texts,
  extra: mapType(stringType, texts),
  uid: stringType,
});

/** Variables of the authentication configuration: `claims` in mappings and claim rules, `user` in user rules. */
export const claimsVariables: Record<string, CelType> = { claims: mapType(stringType, dynType) };
export const userVariables: Record<string, CelType> = { user: userInfoType };

/** `device` of device selectors. */
export const deviceType = structOf("kubernetes.DRADevice", {
  driver: stringType,
  allowMultipleAllocations: boolType,
  attributes: mapType(stringType, mapType(stringType, dynType)),
  capacity: mapType(stringType, mapType(stringType, quantityType)),
});

/** `oldSelf` of rules that run on creation, too. */
export function optionalOf(type: CelType): CelType {
  return optionalType(type);
}

/** Object literals of mutating policies: `Object`, `Object.spec.template`, … with whatever fields; nothing is known of them before they are applied. */
export function objectLiteralType(name: string): StructType | undefined {
  if (!/^Object(\.[A-Za-z_]\w*)*$/.test(name)) return undefined;
  return { ...closedStructType(name), field: () => ({ type: dynType }) };
}
