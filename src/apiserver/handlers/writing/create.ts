/** POST to a collection. */
import { canonicalize } from "../../../apimachinery/encode/canonical.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { createObject } from "../../registry/create.ts";
import type { Written } from "../../registry/create.ts";
import { parseWriteOptions } from "../../registry/options.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { RequestContext } from "../../request-context.ts";
import type { Negotiated } from "../../http/negotiation.ts";
import { decodeBody } from "./decode-body.ts";
import { negotiateFor, objectTransforms, respondObject, respondStored } from "../respond.ts";

export async function handleCreate(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const form = negotiateFor(context, objectTransforms(definition));
  const options = parseWriteOptions(context.query, "CreateOptions");
  const object = decodeBody(context, definition, options.fieldValidation);
  definition.strategy?.defaults?.(object, context.server.clock.nowMs());
  context.audit?.noteRequest(object, definition);
  const written = await createObject({ context, definition, namespace: context.info.namespace, options, object });
  return respondWritten(context, definition, written, { form, status: 201 });
}

/** A dry run answers what storing would have made of the object. */
function asStored(definition: ResourceDefinition, object: KubeObject): KubeObject {
  if (definition.storage?.isJson === true) return object;
  return canonicalize(object as unknown as JsonObject, definition.schema, { emptiesVanish: true }) as unknown as KubeObject;
}

export async function respondWritten(
  context: RequestContext,
  definition: ResourceDefinition,
  written: Written,
  options: { form: Negotiated; status: number },
): Promise<ApiResponse> {
  return "stored" in written
    ? respondStored(context, definition, written.stored, options)
    : respondObject(context, definition, asStored(definition, written.dryRun), options);
}
