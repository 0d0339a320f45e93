/** POST serviceaccounts/token (API type authentication.k8s.io/v1 TokenRequest). */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import type { TokenRequest } from "../../../api/authentication-v1/types.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { invalid } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { badRequestError, conflictError, invalidError, notFoundError } from "../../../apimachinery/status.ts";
import { newUid } from "../../../base/ids.ts";
import { formatTime } from "../../../apimachinery/time.ts";
import { trackUpdate } from "../../registry/field-tracking.ts";
import { parseWriteOptions } from "../../registry/options.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { RequestContext } from "../../request-context.ts";
import type { BoundReference, TokenClaims } from "../../authn/service-account-tokens.ts";
import { decodeBody } from "../writing/decode-body.ts";
import { negotiateFor, respondObject } from "../respond.ts";

const schema = typeRegistry.kind("authentication.k8s.io", "v1", "TokenRequest")!;
const requestType = { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest", schema };

const minSeconds = 600;
const maxSeconds = 2 ** 32;
const defaultSeconds = 3600;
/** Tokens for in-cluster clients that ask for about an hour live a year, and warn after the time asked for (API server flag service-account-extend-token-expiration). */
const extendedSeconds = 365 * 24 * 3600;
const clientSeconds = 3607;

export async function handleTokenRequest(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const form = negotiateFor(context, []);
  const options = parseWriteOptions(context.query, "CreateOptions");
  const request = decodeBody(context, requestType, options.fieldValidation) as unknown as TokenRequest;
  context.audit?.noteRequest(request as unknown as KubeObject, requestType);
  const { namespace, name } = context.info;
  const account = findObject(context.server, "/serviceaccounts", namespace, name);
  const spec = (request.spec ??= {} as NonNullable<TokenRequest["spec"]>);
  spec.expirationSeconds ??= defaultSeconds;
  const tracked = request as unknown as KubeObject;
  await trackUpdate({ context, definition: { ...definition, ...requestType, strategy: undefined }, options }, tracked, undefined, "token");
  const admitted = {
    context,
    operation: "CREATE",
    definition,
    subresource: "token",
    namespace,
    name,
    object: request as unknown as KubeObject,
    oldObject: undefined,
    isDryRun: options.isDryRun,
  } as const;
  await context.server.admission.mutate(admitted);
  if (account === undefined) throw notFoundError(definition, name);
  const given = request.metadata?.namespace ?? "";
  if (given !== "" && given !== namespace) throw badRequestError("the namespace of the provided object does not match the namespace sent on the request");
  if ((spec.audiences ?? []).length === 0) spec.audiences = [...context.server.tokens.audiences];
  checkRequest(request, name);
  const bound = boundObject(request, context);
  const metadata = { name, namespace, uid: newUid(context.server.random), creationTimestamp: formatTime(context.server.clock.nowMs()) };
  await context.server.admission.validate(admitted);
  const asked = request.spec!.expirationSeconds!;
  const isExtended =
    asked === clientSeconds && bound.pod !== undefined && request.spec!.audiences!.every((audience) => context.server.tokens.audiences.includes(audience));
  const signed = context.server.tokens.sign({
    audiences: request.spec!.audiences!,
    namespace,
    serviceAccount: { name, uid: account.metadata.uid! },
    ...bound,
    expiresInSeconds: isExtended ? extendedSeconds : asked,
    ...(isExtended && { warnAfterSeconds: asked }),
  });
  const expiresMs = isExtended ? signed.expiresMs - (extendedSeconds - asked) * 1000 : signed.expiresMs;
  const answer = {
    ...request,
    metadata: { ...metadata, ...(tracked.metadata.managedFields !== undefined && { managedFields: tracked.metadata.managedFields }) },
    status: { token: signed.token, expirationTimestamp: formatTime(expiresMs) },
  };
  return respondObject(context, definition, answer as unknown as KubeObject, { form, status: 201, schema });
}

function checkRequest(request: TokenRequest, name: string): void {
  const errors: FieldError[] = [];
  const given = request.metadata?.name ?? "";
  if (given !== "" && given !== name) errors.push(invalid(FieldPath.root("metadata", "name"), given, "must match the service account name if specified"));
  const path = FieldPath.root("spec", "expirationSeconds");
  const seconds = request.spec!.expirationSeconds!;
  if (seconds < minSeconds) errors.push(invalid(path, seconds, "may not specify a duration less than 10 minutes"));
  if (seconds > maxSeconds) errors.push(invalid(path, seconds, "may not specify a duration larger than 2^32 seconds"));
  if (errors.length > 0) throw invalidError({ group: "authentication.k8s.io", kind: "TokenRequest" }, given === "" ? "" : name, errors);
}

const boundKinds: Readonly<Record<string, { resource: string; key: "pod" | "secret" | "node"; isNamespaced: boolean }>> = {
  Pod: { resource: "pods", key: "pod", isNamespaced: true },
  Secret: { resource: "secrets", key: "secret", isNamespaced: true },
  Node: { resource: "nodes", key: "node", isNamespaced: false },
};

/** The claims that name what the token is bound to. A pod on a node brings the node along. */
function boundObject(request: TokenRequest, context: RequestContext): Pick<TokenClaims, "pod" | "secret" | "node"> {
  const reference = request.spec?.boundObjectRef;
  if (reference === undefined || reference === null) return {};
  const { namespace, name: account } = context.info;
  // (Any version of the group is taken for the one there is.)
  const kind = (reference.apiVersion ?? "").includes("/") ? undefined : boundKinds[reference.kind ?? ""];
  if (kind === undefined) throw badRequestError(`cannot bind token to object of type ${gvkText(reference)}`);
  if (!reference.name) throw badRequestError("Name parameter required.");
  const object = findObject(context.server, `/${kind.resource}`, kind.isNamespaced ? namespace : "", reference.name ?? "");
  if (object === undefined) throw notFoundError({ group: "", resource: kind.resource }, reference.name ?? "");
  const uid = object.metadata.uid!;
  if ((reference.uid ?? "") !== "" && reference.uid !== uid) {
    throw conflictError(
      { group: "", resource: reference.kind! },
      reference.name,
      `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  const bound: BoundReference = { name: reference.name!, uid };
  if (kind.key !== "pod") return { [kind.key]: bound };
  const spec = object["spec"] as { serviceAccountName?: string; nodeName?: string };
  if (spec.serviceAccountName !== account)
    throw badRequestError(`cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`);
  const node = (spec.nodeName ?? "") === "" ? undefined : findObject(context.server, "/nodes", "", spec.nodeName!);
  if ((spec.nodeName ?? "") === "") return { pod: bound };
  return { pod: bound, node: { name: spec.nodeName!, ...(node !== undefined && { uid: node.metadata.uid! }) } };
}

function gvkText(reference: { apiVersion?: string; kind?: string }): string {
  const [group, version] = (reference.apiVersion ?? "").includes("/") ? reference.apiVersion!.split("/") : ["", reference.apiVersion ?? ""];
  return `${group}/${version}, Kind=${reference.kind ?? ""}`;
}
