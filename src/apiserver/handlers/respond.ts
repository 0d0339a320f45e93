/** The answer of a handler that shows one object. */
import type { ApiResponse } from "../../apimachinery/request.ts";
import { canonicalize } from "../../apimachinery/encode/canonical.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { StructSchema } from "../../apimachinery/schema.ts";
import { StatusError } from "../../apimachinery/status.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { negotiate } from "../http/negotiation.ts";
import type { MediaType, Negotiated, Transform } from "../http/negotiation.ts";
import { jsonBytesResponse, objectResponse } from "../http/write-response.ts";
import { isTrue } from "../http/request-info.ts";
import { isServedAsStored, readVersion } from "../registry/convert.ts";
import { printed } from "../registry/object-codec.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { RequestContext } from "../request-context.ts";
import { parseIncludeObject, partialOf, partialSchema, tableOf, tableSchema } from "./transform.ts";

/** The form asked for, among what a resource offers. */
export function negotiateFor(context: RequestContext, transforms: readonly Transform["kind"][], goType?: string): Negotiated {
  const { group, version, resource, subresource } = context.info;
  const isCustom = context.server.resources.find(group, version, resource)?.isCustom === true && subresource !== "scale";
  try {
    const form = negotiate(context.request.headers["accept"], { transforms, ...(goType !== undefined && { goType }), ...(isCustom && { mediaTypes: textMediaTypes }) });
    return withPretty(context, form);
  } catch (error) {
    if (!isCustom || !(error instanceof StatusError) || error.reason !== "NotAcceptable") throw error;
    throw new StatusError({ ...error.status, message: "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf" });
  }
}

/** Custom resources have no protobuf form. */
const textMediaTypes: readonly MediaType[] = ["application/json", "application/yaml"];

/** Go's type of a resource's objects, as refusals show it. */
export function goTypeOf(definition: ResourceDefinition, isList: boolean): string {
  if (definition.isCustom) return isList ? "unstructured.UnstructuredList" : "unstructured.Unstructured";
  return `${definition.group === "" ? "core" : definition.group.split(".")[0]}.${isList ? definition.listKind : definition.kind}`;
}

/** `?pretty`, and browsers' and curl's habit of getting indented JSON. */
export function withPretty(context: RequestContext, form: Negotiated): Negotiated {
  const asked = context.query.get("pretty");
  const agent = context.request.headers["user-agent"] ?? "";
  const isPretty = asked === null ? form.isPretty || /^(curl|Wget|Mozilla\/5\.0)/.test(agent) : isTrue(asked);
  return isPretty === form.isPretty ? form : { ...form, isPretty };
}

export function objectTransforms(definition: ResourceDefinition): readonly Transform["kind"][] {
  return definition.table === undefined ? ["PartialObjectMetadata"] : ["Table", "PartialObjectMetadata"];
}

/** Answers with a stored object. Plain JSON is a slice of the stored bytes. */
export function respondStored(context: RequestContext, definition: ResourceDefinition, stored: StoredObject, options: { form: Negotiated; status: number }): ApiResponse {
  const { form, status } = options;
  if (form.mediaType === "application/json" && form.transform === undefined && !form.isPretty && isServedAsStored(definition, stored)) return jsonBytesResponse(status, stored.toJson());
  return respondObject(context, definition, readVersion(definition, stored), options);
}

/** Answers with an object that is not (or not like this) in the store. */
export function respondObject(context: RequestContext, definition: ResourceDefinition, object: KubeObject, options: { form: Negotiated; status: number; schema?: StructSchema }): ApiResponse {
  const { form, status } = options;
  const schema = options.schema ?? definition.schema;
  switch (form.transform?.kind) {
    case "Table":
      return objectResponse(status, tableOf(definition, [object], { transform: form.transform, includeObject: parseIncludeObject(context.query), metadata: { resourceVersion: object.metadata.resourceVersion ?? "" }, nowMs: context.server.clock.nowMs(), descriptions: context.server.descriptions }), form, tableSchema);
    case "PartialObjectMetadata":
      return objectResponse(status, partialOf(object, form.transform.version), form, partialSchema);
    case "PartialObjectMetadataList":
    case undefined:
      return objectResponse(status, options.schema === undefined ? printed(definition, object) : canonicalize(object as unknown as JsonObject, options.schema), form, schema);
  }
}
