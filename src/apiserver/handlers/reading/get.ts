/** GET of one object. */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { badRequestError, notFoundError } from "../../../apimachinery/status.ts";
import { pathSegmentName } from "../../../apimachinery/names.ts";
import { isTrue } from "../../http/request-info.ts";
import { relativeKey } from "../../registry/resource-definition.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { RequestContext } from "../../request-context.ts";
import type { StoredObject } from "../../cache/stored-object.ts";
import { goTypeOf, negotiateFor, objectTransforms, respondStored } from "../respond.ts";
import { futureVersionError, invalidGetVersion, parseVersion } from "./versions.ts";

export async function handleGet(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const form = negotiateFor(context, objectTransforms(definition, context.info.subresource), goTypeOf(definition, false));
  if (isTrue(context.query.get("export"))) throw badRequestError("the export parameter, deprecated since v1.14, is no longer supported");
  const stored = await findStored(context, definition);
  return respondStored(context, definition, stored, { form, status: 200 });
}

/** The object that the path names, no older than `?resourceVersion` asks. Throws 404, 500, 504. */
export async function findStored(context: RequestContext, definition: ResourceDefinition): Promise<StoredObject> {
  const { namespace, name } = context.info;
  checkName(name);
  const version = context.query.get("resourceVersion") ?? "";
  if (version !== "") {
    const revision = parseVersion(version);
    if (revision === undefined) throw invalidGetVersion(version);
    if (revision > context.server.cacher.revision) throw futureVersionError(revision, context.server.cacher.revision);
  }
  const stored = definition.storage!.cache.get(relativeKey(definition, namespace, name));
  if (stored === undefined) throw notFoundError(definition, name);
  return stored;
}

/** Names that cannot stand in a path. */
export function checkName(name: string): void {
  const faults = pathSegmentName(name);
  if (faults.length > 0) throw badRequestError(`Name parameter invalid: ${JSON.stringify(name)}: ${faults.join(", ")}`);
}
