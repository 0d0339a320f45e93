/** Kinds that are answered and never stored: reviews of tokens, of access, of oneself; the old `bindings`. */
import type { ApiResponse } from "../../apimachinery/request.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { StatusError, badRequestError } from "../../apimachinery/status.ts";
import { parseWriteOptions } from "../registry/options.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { RequestContext } from "../request-context.ts";
import { reviewAccess, reviewLocalAccess, reviewOwnAccess } from "../reviews/access-review.ts";
import { reviewOwnRules } from "../reviews/rules-review.ts";
import { reviewSelf } from "../reviews/self-review.ts";
import { reviewTokenObject } from "../reviews/token-review.ts";
import { trackUpdate } from "../registry/field-tracking.ts";
import { handleBinding } from "./subresources/binding.ts";
import { decodeBody } from "./writing/decode-body.ts";
import { negotiateFor, respondObject } from "./respond.ts";

/** Fills the status of a review. Throws StatusError for one that cannot be answered. */
export type Review = (object: KubeObject, context: RequestContext) => Promise<KubeObject> | KubeObject;

const reviews: Readonly<Record<string, Review>> = {
  "authentication.k8s.io/TokenReview": reviewTokenObject,
  "authentication.k8s.io/SelfSubjectReview": reviewSelf,
  "authorization.k8s.io/SubjectAccessReview": reviewAccess,
  "authorization.k8s.io/LocalSubjectAccessReview": reviewLocalAccess,
  "authorization.k8s.io/SelfSubjectAccessReview": reviewOwnAccess,
  "authorization.k8s.io/SelfSubjectRulesReview": reviewOwnRules,
};

export function isVirtual(definition: ResourceDefinition): boolean {
  return definition.storage === undefined && definition.verbs.has("create");
}

export async function handleVirtual(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  if (definition.kind === "Binding") return handleBinding(context, definition);
  const review = reviews[`${definition.group}/${definition.kind}`];
  if (review === undefined) throw new StatusError({ message: "the server could not find the requested resource", reason: "NotFound", details: {}, code: 404 });
  const form = negotiateFor(context, []);
  const options = parseWriteOptions(context.query, "CreateOptions");
  const object = decodeBody(context, definition, options.fieldValidation);
  context.audit?.noteRequest(object, definition);
  fillNamespace(context, definition, object);
  await trackUpdate({ context, definition, options }, object, undefined, "");
  const answer = await review(object, context);
  return respondObject(context, definition, answer, { form, status: 201 });
}

function fillNamespace({ info }: RequestContext, definition: ResourceDefinition, { metadata }: KubeObject): void {
  if (!definition.isNamespaced) {
    delete metadata.namespace;
    return;
  }
  const given = metadata.namespace ?? "";
  if (given !== "" && given !== info.namespace) throw badRequestError("the namespace of the provided object does not match the namespace sent on the request");
  metadata.namespace = info.namespace;
}
