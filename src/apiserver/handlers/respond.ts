/** The answer of a handler that shows one object. */
import { bytesResponse } from "../../apimachinery/request.ts";
import type { ApiResponse } from "../../apimachinery/request.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import { envelopeOf } from "../../apimachinery/protobuf/envelope.ts";
import { canonicalize } from "../../apimachinery/encode/canonical.ts";
import { sortedMembers } from "../../apimachinery/json.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { StructSchema } from "../../apimachinery/schema.ts";
import { timedNow } from "../audit/latencies.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { negotiate, servedMediaTypes } from "../http/negotiation.ts";
import type { Negotiated, Offer, Transform } from "../http/negotiation.ts";
import { jsonBytesResponse, objectResponse } from "../http/write-response.ts";
import { isServedAsStored, prepareVersions, readVersion } from "../registry/versions/convert.ts";
import { printed } from "../registry/storage/object-codec.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { RequestContext } from "../request-context.ts";
import { parseIncludeObject, partialOf, partialSchema, tableOf, tableSchema } from "./reading/transform.ts";

/** The form asked for, among what a resource offers. */
export function negotiateFor(context: RequestContext, transforms: readonly Transform["kind"][], goType?: string): Negotiated {
  return withPretty(
    context,
    negotiate(context.request.headers["accept"], {
      transforms,
      mediaTypes: servedMediaTypes(context.server),
      ...(goType !== undefined && { goType }),
      ...offerOf(context),
    }),
  );
}

/** The form of a watch's frames. */
export function negotiateFrames(context: RequestContext, transforms: readonly Transform["kind"][]): Negotiated {
  return negotiate(context.request.headers["accept"], {
    ...offerOf(context),
    transforms,
    mediaTypes: servedMediaTypes(context.server).filter((type) => type !== "application/yaml"),
    listed: streamMediaTypes(context),
  });
}

/** Custom resources are not served by routes that know what they make. */
function offerOf(context: RequestContext): Pick<Offer, "isCustom" | "produces"> {
  const { group, version, resource, subresource, verb } = context.info;
  const definition = context.server.resources.find(group, version, resource);
  if (definition?.isCustom === true) return { isCustom: subresource !== "scale" };
  const hasFrames = (verb === "list" || verb === "watch") && definition?.verbs.has("watch") === true;
  const served = servedMediaTypes(context.server);
  return { produces: hasFrames ? [...served, ...streamMediaTypes(context)] : served };
}

function streamMediaTypes({ server }: RequestContext): string[] {
  const types = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
  return servedMediaTypes(server).includes("application/cbor") ? [...types, "application/cbor-seq"] : types;
}

/** Go's type of a resource's objects, as refusals show it. */
export function goTypeOf(definition: ResourceDefinition, isList: boolean): string {
  if (definition.isCustom) return isList ? "unstructured.UnstructuredList" : "unstructured.Unstructured";
  return `${definition.group === "" ? "core" : definition.group.split(".")[0]}.${isList ? definition.listKind : definition.kind}`;
}

/** `?pretty`, and browsers' and curl's habit of getting indented JSON. */
export function withPretty(context: RequestContext, form: Negotiated): Negotiated {
  const asked = context.query.get("pretty") ?? "";
  const agent = context.request.headers["user-agent"] ?? "";
  const isPretty = asked === "" ? form.isPretty || /^(curl|Wget|Mozilla\/5\.0)/.test(agent) : /^(1|t|T|TRUE|true|True)$/.test(asked);
  return isPretty === form.isPretty ? form : { ...form, isPretty };
}

export function objectTransforms(definition: ResourceDefinition, subresource = ""): readonly Transform["kind"][] {
  return definition.table === undefined || withoutTable.has(subresource) ? ["PartialObjectMetadata"] : ["Table", "PartialObjectMetadata"];
}

/** Subresources that show the object, but not as a row. */
const withoutTable = new Set(["ephemeralcontainers", "resize"]);

/** Answers with a stored object. Plain JSON is a slice of the stored bytes. */
export async function respondStored(
  context: RequestContext,
  definition: ResourceDefinition,
  stored: StoredObject,
  options: { form: Negotiated; status: number },
): Promise<ApiResponse> {
  const { form, status } = options;
  await prepareVersions(definition, [stored]);
  if (form.mediaType === "application/json" && form.transform === undefined && !form.isPretty && isServedAsStored(definition, stored))
    return timedNow(context, "serialize-response-object", () => jsonBytesResponse(status, stored.toJsonLine()));
  if (form.mediaType === "application/vnd.kubernetes.protobuf" && form.transform === undefined && definition.codec === undefined) {
    const message = timedNow(context, "serialize-response-object", () => context.server.encodings.protobuf(definition, stored));
    return bytesResponse(status, form.mediaType, envelopeOf(message, gvkOf(definition)));
  }
  const object = timedNow(context, "decode-response-object", () => readVersion(definition, stored));
  return respondObject(context, definition, object, options);
}

export function gvkOf({ group, version, kind }: ResourceDefinition): { apiVersion: string; kind: string } {
  return { apiVersion: apiVersionOf(group, version), kind };
}

/** Text for people shows a custom resource's members in order. */
export function printedAs(definition: ResourceDefinition, object: KubeObject, form: Negotiated): JsonObject {
  const json = printed(definition, object);
  return definition.isCustom && (form.isPretty || form.mediaType === "application/yaml") ? sortedMembers(json) : json;
}

/** Answers with an object that is not (or not like this) in the store. */
export function respondObject(
  context: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
  options: { form: Negotiated; status: number; schema?: StructSchema },
): ApiResponse {
  const { form, status } = options;
  const { shown, schema } = timedNow(context, "transform-response-object", () => inForm(context, definition, object, options));
  return timedNow(context, "serialize-response-object", () => objectResponse(status, shown, form, schema));
}

function inForm(
  context: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
  { form, schema }: { readonly form: Negotiated; readonly schema?: StructSchema },
): { shown: JsonObject; schema: StructSchema | undefined } {
  switch (form.transform?.kind) {
    case "Table": {
      const table = tableOf(definition, [object], {
        transform: form.transform,
        includeObject: parseIncludeObject(context.query),
        metadata: { resourceVersion: object.metadata.resourceVersion ?? "" },
        nowMs: context.server.clock.nowMs(),
        descriptions: context.server.descriptions,
      });
      return { shown: table, schema: tableSchema };
    }
    case "PartialObjectMetadata":
      return { shown: partialOf(object, form.transform.version), schema: partialSchema };
    case "PartialObjectMetadataList":
    case undefined:
      context.server.encodings.count(definition, form.mediaType);
      return {
        shown: schema === undefined ? printedAs(definition, object, form) : canonicalize(object as unknown as JsonObject, schema),
        schema: schema ?? definition.schema,
      };
  }
}
