/** PUT of one object or of a subresource that shows the whole object. */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { badRequestError } from "../../../apimachinery/status.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { deepCopy } from "../../../apimachinery/json.ts";
import { dropDuplicateOwners } from "../../registry/owner-references.ts";
import { trackUpdate } from "../../registry/field-tracking.ts";
import { parseWriteOptions } from "../../registry/options.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { updateObject } from "../../registry/update.ts";
import type { RequestContext } from "../../request-context.ts";
import { respondWritten } from "./create.ts";
import { decodeBody } from "./decode-body.ts";
import { negotiateFor, objectTransforms } from "../respond.ts";

export async function handleUpdate(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const { namespace, name, subresource } = context.info;
  const form = negotiateFor(context, objectTransforms(definition, context.info.subresource));
  const options = parseWriteOptions(context.query, "UpdateOptions");
  const given = decodeBody(context, definition, options.fieldValidation);
  definition.strategy?.defaults?.(given, context.server.clock.nowMs());
  context.audit?.noteRequest(given, definition);
  checkObjectName(given, name);
  const result = await updateObject({
    context,
    definition,
    namespace,
    name,
    subresource,
    options,
    checksUid: true,
    createsMissing: subresource === "" && definition.strategy?.update.allowsCreate === true,
    async produce(old) {
      const object = deepCopy(given);
      dropDuplicateOwners(object, context.warnings, "request");
      object.metadata.name = name;
      await trackUpdate({ context, definition, options }, object, old, subresource);
      return object;
    },
  });
  return respondWritten(context, definition, result, { form, status: result.isCreated ? 201 : 200 });
}

/** The name in the body must be the path's. */
export function checkObjectName(object: KubeObject, name: string): void {
  const given = object.metadata.name ?? "";
  if (given === "") throw badRequestError(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (given !== name) throw badRequestError(`the name of the object (${given}) does not match the name on the URL (${name})`);
}
