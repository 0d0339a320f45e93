/** SubjectAccessReview and its relatives: would this be allowed (API group authorization.k8s.io/v1). */
import type {
  NonResourceAttributes as PathSpec,
  ResourceAttributes as ResourceSpec,
  SubjectAccessReview,
  SubjectAccessReviewStatus,
} from "../../api/authorization-v1/types.ts";
import { internalForm } from "../../api/meta/internal-form.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { invalid } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import { StatusError, invalidError } from "../../apimachinery/status.ts";
import type { AuthorizationAttributes } from "../authz/authorizer.ts";
import type { RequestContext } from "../request-context.ts";
import { readSelectors, validateSelectors } from "./review-selectors.ts";

export async function reviewAccess(object: KubeObject, context: RequestContext): Promise<KubeObject> {
  const review = object as unknown as SubjectAccessReview;
  check([...validateSubject(review), ...validateMetadata(object, [])]);
  return answer(object, context, reviewedUser(review));
}

export async function reviewLocalAccess(object: KubeObject, context: RequestContext): Promise<KubeObject> {
  const review = object as unknown as SubjectAccessReview;
  const { resourceAttributes, nonResourceAttributes } = review.spec ?? {};
  const errors = [...validateSubject(review), ...validateMetadata(object, ["namespace"])];
  const namespace = resourceAttributes?.namespace ?? "";
  if (resourceAttributes !== undefined && namespace !== (review.metadata.namespace ?? ""))
    errors.push(invalid(FieldPath.root("spec.resourceAttributes.namespace"), namespace, "must match metadata.namespace"));
  if (nonResourceAttributes !== undefined)
    errors.push(invalid(FieldPath.root("spec.nonResourceAttributes"), shownPath(nonResourceAttributes), "disallowed on this kind of request"));
  check(errors);
  return answer(object, context, reviewedUser(review));
}

export async function reviewOwnAccess(object: KubeObject, context: RequestContext): Promise<KubeObject> {
  const { spec = {} } = object as unknown as { spec?: Asked };
  check([...validateKind(spec), ...validateResource(spec), ...validateMetadata(object, [])]);
  return answer(object, context, context.user);
}

interface Asked {
  readonly resourceAttributes?: ResourceSpec;
  readonly nonResourceAttributes?: PathSpec;
}

async function answer(object: KubeObject, context: RequestContext, user: UserInfo): Promise<KubeObject> {
  const { attributes, errors } = attributesOf((object as unknown as SubjectAccessReview).spec!, user);
  const decision = await context.server.authorizer.authorize(attributes);
  const notes = [...errors, ...(decision.evaluationError === undefined ? [] : [decision.evaluationError])];
  const status: SubjectAccessReviewStatus = {
    allowed: decision.verdict === "allow",
    ...(decision.verdict === "deny" && { denied: true }),
    ...(decision.reason !== "" && { reason: decision.reason }),
    ...(notes.length > 0 && { evaluationError: notes.length === 1 ? notes[0]! : `[${notes.join(", ")}]` }),
  };
  return { ...object, status };
}

function attributesOf(spec: Asked, user: UserInfo): { readonly attributes: AuthorizationAttributes; readonly errors: readonly string[] } {
  const path = spec.nonResourceAttributes;
  if (path !== undefined) return { attributes: { kind: "path", user, verb: path.verb ?? "", path: path.path ?? "" }, errors: [] };
  const asked = spec.resourceAttributes!;
  const { errors, ...selectors } = readSelectors(asked);
  const { verb = "", group = "", version = "*", resource = "", subresource = "", namespace = "", name = "" } = asked;
  return { attributes: { kind: "resource", user, verb, group, version, resource, subresource, namespace, name, ...selectors }, errors };
}

function reviewedUser(review: SubjectAccessReview): UserInfo {
  const { user = "", groups = [], uid, extra } = review.spec!;
  return { username: user, groups, ...(uid !== undefined && { uid }), ...(extra !== undefined && { extra: extra as Record<string, string[]> }) };
}

function validateSubject(review: SubjectAccessReview): FieldError[] {
  const spec = review.spec ?? {};
  const { user = "", groups = [] } = spec as { user?: string; groups?: string[] };
  const nobody = user === "" && groups.length === 0 ? [invalid(FieldPath.root("spec.user"), user, "at least one of user or group must be specified")] : [];
  return [...validateKind(spec), ...nobody, ...validateResource(spec)];
}

function validateKind({ resourceAttributes, nonResourceAttributes }: Asked): FieldError[] {
  if ((resourceAttributes === undefined) !== (nonResourceAttributes === undefined)) return [];
  return [invalid(FieldPath.root("spec"), shownPath(nonResourceAttributes), "exactly one of nonResourceAttributes or resourceAttributes must be specified")];
}

function validateResource({ resourceAttributes }: Asked): FieldError[] {
  return resourceAttributes === undefined ? [] : validateSelectors(resourceAttributes, FieldPath.root("spec.resourceAttributes"));
}

/** Reviews have no metadata; what the server itself notes there does not count. */
function validateMetadata({ metadata }: KubeObject, accepted: readonly string[]): FieldError[] {
  const isEmpty = Object.keys(metadata).every((key) => key === "managedFields" || key === "creationTimestamp" || accepted.includes(key));
  return isEmpty ? [] : [invalid(FieldPath.root("metadata"), metadata, accepted.length === 0 ? "must be empty" : "must be empty except for namespace")];
}

const shownPath = (path: PathSpec | undefined) => internalForm("api.authorization.v1.NonResourceAttributes", path);

function check(errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  const error = invalidError({ group: "authorization.k8s.io", kind: "" }, "", errors);
  throw new StatusError({ ...error.status, message: error.status.message!.replace(/^\.?authorization/, ".authorization") });
}
