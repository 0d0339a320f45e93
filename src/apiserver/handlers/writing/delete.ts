/** DELETE of one object, and of a collection. */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { isNotFound } from "../../../apimachinery/status.ts";
import type { Status } from "../../../apimachinery/status.ts";
import type { StoredObject } from "../../cache/stored-object.ts";
import { deleteObject } from "../../registry/delete.ts";
import type { Deleted } from "../../registry/delete.ts";
import { parseDeleteOptions } from "../../registry/delete-options.ts";
import type { DeleteOptions } from "../../registry/delete-options.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { RequestContext } from "../../request-context.ts";
import { statusResponse } from "../../http/write-response.ts";
import { checkBodySize, requestMediaType } from "./decode-body.ts";
import { checkName } from "../reading/get.ts";
import { readList, respondList } from "../reading/list.ts";
import { negotiateFor, objectTransforms, respondObject } from "../respond.ts";

export async function handleDelete(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const { namespace, name } = context.info;
  const form = negotiateFor(context, objectTransforms(definition));
  checkBodySize(context);
  checkName(name);
  checkMediaType(context);
  const options = parseDeleteOptions(context);
  warnOfPropagation(context, definition, options);
  const deleted = await deleteObject({ context, definition, namespace, name, options });
  const showsObject = !deleted.isGone || definition.strategy?.delete?.answer === "object";
  const status = !deleted.isGone && options.orphanDependents === false ? 202 : 200;
  if (showsObject) return respondObject(context, definition, lastState(deleted), { form, status });
  return statusResponse(successStatus(definition, deleted), { ...form, transform: undefined });
}

/** Options in a body have to be in a form that is known. Throws 415. */
function checkMediaType({ request, server }: RequestContext): void {
  if (request.body.length > 0) requestMediaType(request.headers["content-type"], server);
}

/** Kinds whose dependents are kept by default say so to a client that did not choose. */
function warnOfPropagation(context: RequestContext, definition: ResourceDefinition, options: DeleteOptions): void {
  const warning = definition.strategy?.delete?.propagationWarning;
  if (warning !== undefined && options.propagationPolicy === undefined && options.orphanDependents === undefined) context.warnings.add(warning);
}

/** A deleted object is shown as it was last; one that vanished carries the deletion's revision. */
function lastState(deleted: Deleted) {
  if (!deleted.isGone || deleted.stored === undefined) return deleted.object;
  return { ...deleted.object, metadata: { ...deleted.object.metadata, resourceVersion: String(deleted.stored.revision) } };
}

function successStatus(definition: ResourceDefinition, deleted: Deleted): Status {
  const { metadata } = deleted.object;
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: metadata.name!,
      ...(definition.group !== "" && { group: definition.group }),
      kind: definition.resource,
      ...(metadata.uid !== undefined && { uid: metadata.uid }),
    },
  };
}

export async function handleDeleteCollection(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const form = negotiateFor(context, definition.table === undefined ? ["PartialObjectMetadataList"] : ["Table", "PartialObjectMetadataList"]);
  checkBodySize(context);
  checkMediaType(context);
  const options = parseDeleteOptions(context);
  warnOfPropagation(context, definition, options);
  const list = await readList(context, definition);
  await deleteAll(list.items, async (stored, onAdmitted) => {
    const { namespace = "", name } = definition.storage!.cache.parse(stored).metadata;
    try {
      await deleteObject({ context, definition, namespace, name: name!, options, isOfCollection: true, onAdmitted });
    } catch (error) {
      // Somebody else was faster: that is what was asked for.
      if (!isNotFound(error)) throw error;
    }
  });
  return respondList(context, definition, list, form);
}

/** Of one collection: those that wait together become durable together. */
const deletionsAtOnce = 64;

/**
 * Deletions begin in the order of the items, each when the one before is admitted: what is refused, or fails, stops those after it. Those in
 * hand end, then the first failure is thrown.
 */
async function deleteAll(items: readonly StoredObject[], deleteOne: (stored: StoredObject, onAdmitted: () => void) => Promise<void>): Promise<void> {
  const inHand = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for (const item of items) {
    if (inHand.size === deletionsAtOnce) await Promise.race(inHand);
    if (failures.length > 0) break;
    const isAdmitted = Promise.withResolvers<void>();
    const work = deleteOne(item, isAdmitted.resolve)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => {
        inHand.delete(work);
        isAdmitted.resolve();
      });
    inHand.add(work);
    await isAdmitted.promise;
  }
  await Promise.all(inHand);
  if (failures.length > 0) throw failures[0];
}
