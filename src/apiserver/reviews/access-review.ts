/** SubjectAccessReview and its relatives: would this be allowed (API group authorization.k8s.io/v1). */
import type { NonResourceAttributes as PathSpec, ResourceAttributes as ResourceSpec, SubjectAccessReview, SubjectAccessReviewStatus } from "../../api/authorization-v1/types.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { invalid } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import { StatusError, badRequestError, invalidError } from "../../apimachinery/status.ts";
import type { AuthorizationAttributes } from "../authz/authorizer.ts";
import type { RequestContext } from "../request-context.ts";

export async function reviewAccess(object: KubeObject, context: RequestContext): Promise<KubeObject> {
  const review = object as unknown as SubjectAccessReview;
  check(review, validateSubject(review));
  return answer(object, context, reviewedUser(review));
}

export async function reviewLocalAccess(object: KubeObject, context: RequestContext): Promise<KubeObject> {
  const review = object as unknown as SubjectAccessReview;
  const namespace = review.spec?.resourceAttributes?.namespace ?? "";
  const errors = validateSubject(review);
  if (review.spec?.nonResourceAttributes !== undefined) errors.push(invalid(FieldPath.root("spec.nonResourceAttributes"), review.spec.nonResourceAttributes, "disallowed on this kind of request"));
  check(review, errors);
  if (namespace !== context.info.namespace) throw badRequestError(`spec.resourceAttributes.namespace must match namespace: ${context.info.namespace}`);
  return answer(object, context, reviewedUser(review));
}

export async function reviewOwnAccess(object: KubeObject, context: RequestContext): Promise<KubeObject> {
  const review = object as unknown as SubjectAccessReview;
  check(review, validateAttributes(review.spec ?? {}));
  return answer(object, context, context.user);
}

async function answer(object: KubeObject, context: RequestContext, user: UserInfo): Promise<KubeObject> {
  const spec = (object as unknown as SubjectAccessReview).spec!;
  const decision = await context.server.authorizer.authorize(attributesOf(spec, user));
  const status: SubjectAccessReviewStatus = {
    allowed: decision.verdict === "allow",
    ...(decision.verdict === "deny" && { denied: true }),
    ...(decision.reason !== "" && { reason: decision.reason }),
    ...(decision.evaluationError !== undefined && { evaluationError: decision.evaluationError }),
  };
  return { ...object, status };
}

interface Asked {
  readonly resourceAttributes?: ResourceSpec;
  readonly nonResourceAttributes?: PathSpec;
}

function attributesOf(spec: Asked, user: UserInfo): AuthorizationAttributes {
  const path = spec.nonResourceAttributes;
  if (path !== undefined) return { kind: "path", user, verb: path.verb ?? "", path: path.path ?? "" };
  const asked = spec.resourceAttributes!;
  return {
    kind: "resource",
    user,
    verb: asked.verb ?? "",
    group: asked.group ?? "",
    version: asked.version ?? "*",
    resource: asked.resource ?? "",
    subresource: asked.subresource ?? "",
    namespace: asked.namespace ?? "",
    name: asked.name ?? "",
  };
}

function reviewedUser(review: SubjectAccessReview): UserInfo {
  const { user = "", groups = [], uid, extra } = review.spec!;
  return { username: user, groups, ...(uid !== undefined && { uid }), ...(extra !== undefined && { extra: extra as Record<string, string[]> }) };
}

function validateSubject(review: SubjectAccessReview): FieldError[] {
  const errors = validateAttributes(review.spec ?? {});
  const { user = "", groups = [] } = review.spec ?? {};
  if (user === "" && groups.length === 0) errors.push(invalid(FieldPath.root("spec.user"), user, "at least one of user or group must be specified"));
  return errors;
}

function validateAttributes(spec: Asked): FieldError[] {
  const path = FieldPath.root("spec.resourceAttributes");
  if (spec.resourceAttributes !== undefined && spec.nonResourceAttributes !== undefined) return [invalid(FieldPath.root("spec.nonResourceAttributes"), spec.nonResourceAttributes, "cannot be specified in combination with resourceAttributes")];
  if (spec.resourceAttributes === undefined && spec.nonResourceAttributes === undefined) return [invalid(path, null, "exactly one of nonResourceAttributes or resourceAttributes must be specified")];
  return [];
}

function check(review: SubjectAccessReview, errors: readonly FieldError[]): void {
  const metadata = review.metadata;
  const all = [...errors];
  const { managedFields: _, ...rest } = metadata ?? {};
  if (Object.keys(rest).some((key) => key !== "namespace" && key !== "creationTimestamp")) all.push(invalid(FieldPath.root("metadata"), rest, "must be empty"));
  if (all.length === 0) return;
  const error = invalidError({ group: "authorization.k8s.io", kind: "" }, "", all);
  throw new StatusError({ ...error.status, message: error.status.message!.replace(/^\.?authorization/, ".authorization") });
}
