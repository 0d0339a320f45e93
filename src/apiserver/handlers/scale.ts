/** `/scale` of the workload kinds: an autoscaling/v1 Scale in front of `spec.replicas`. */
import type { ApiResponse } from "../../apimachinery/request.ts";
import type { Scale } from "../../api/autoscaling-v1/types.ts";
import type { LabelSelector } from "../../api/meta-v1/types.ts";
import { typeRegistry } from "../../api/registry.ts";
import { selectorFromObject, labelSelectorText } from "../../apimachinery/selectors/label-selector.ts";
import { deepCopy, isObject } from "../../apimachinery/json.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import { canonicalize } from "../../apimachinery/encode/canonical.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { invalid } from "../../apimachinery/field-error.ts";
import { badRequestError, conflictError, invalidError, notFoundError } from "../../apimachinery/status.ts";
import { readVersion } from "../registry/convert.ts";
import { trackUpdate } from "../registry/field-tracking.ts";
import { parseWriteOptions } from "../registry/options.ts";
import type { WriteOptions } from "../registry/options.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { updateObject } from "../registry/update.ts";
import type { RequestContext } from "../request-context.ts";
import { decodeBody } from "./decode-body.ts";
import { findStored } from "./get.ts";
import { decodePatched, patchJson, patchType, readPatch, reportPatchFaults } from "./patch.ts";
import { negotiateFor, respondObject } from "./respond.ts";

const scaleSchema = typeRegistry.kind("autoscaling", "v1", "Scale")!;
const scaleType = { group: "autoscaling", version: "v1", kind: "Scale", schema: scaleSchema };

export async function handleScale(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const form = negotiateFor(context, ["PartialObjectMetadata"]);
  const respond = (object: KubeObject) => respondObject(context, definition, scaleOf(object) as unknown as KubeObject, { form, status: 200, schema: scaleSchema });
  if (context.request.method === "GET") return respond(readVersion(definition, await findStored(context, definition)));
  const isPatch = context.request.method === "PATCH";
  const options = parseWriteOptions(context.query, isPatch ? "PatchOptions" : "UpdateOptions");
  const change = isPatch ? patchedScale(context, definition, options) : givenScale(context, options);
  const result = await updateObject({
    context,
    definition,
    namespace: context.info.namespace,
    name: context.info.name,
    subresource: "scale",
    options,
    createsMissing: false,
    produce(old) {
      if (old === undefined) throw notFoundError(definition, context.info.name);
      const scale = change(scaleOf(old));
      checkScale(scale, old, definition);
      const object = deepCopy(old);
      object["spec"] = { ...(old["spec"] as object), replicas: scale.spec?.replicas ?? 0 };
      if ((scale.metadata.resourceVersion ?? "") !== "") object.metadata.resourceVersion = scale.metadata.resourceVersion!;
      trackUpdate({ context, definition, options }, object, old, "scale");
      return object;
    },
  });
  return respond("stored" in result ? readVersion(definition, result.stored) : result.dryRun);
}

/** The Scale of an object. Its selector is text. */
function scaleOf(object: KubeObject): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const spec = object["spec"] as { replicas?: number; selector?: LabelSelector | Record<string, string> } | undefined;
  const status = object["status"] as { replicas?: number } | undefined;
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name: name!, namespace: namespace!, uid: uid!, resourceVersion: resourceVersion!, creationTimestamp: creationTimestamp! },
    spec: { ...(spec?.replicas !== undefined && { replicas: spec.replicas }) },
    status: { replicas: status?.replicas ?? 0, selector: selectorText(object, spec?.selector) },
  };
}

function selectorText(object: KubeObject, selector: LabelSelector | Record<string, string> | undefined): string {
  if (selector === undefined) return "";
  const isPlain = object.kind === "ReplicationController";
  return labelSelectorText(selectorFromObject(isPlain ? { matchLabels: selector as Record<string, string> } : (selector as LabelSelector)));
}

function givenScale(context: RequestContext, options: WriteOptions): (old: Scale) => Scale {
  const given = decodeBody(context, scaleType, options.fieldValidation) as unknown as Scale;
  const name = given.metadata.name ?? "";
  if (name === "") throw badRequestError("name must be provided");
  if (name !== context.info.name) throw badRequestError(`the name of the object (${name}) does not match the name on the URL (${context.info.name})`);
  return () => given;
}

function patchedScale(context: RequestContext, definition: ResourceDefinition, options: WriteOptions): (old: Scale) => Scale {
  const type = patchType(context, definition);
  const patch = readPatch(context, type);
  return (old) => {
    const patched = patchJson(type, canonicalize(old as unknown as JsonObject, scaleSchema), patch, scaleSchema);
    if (!isObject(patched)) throw badRequestError("the patch does not give an object");
    const { object, faults } = decodePatched(scaleSchema, patched, { type, patch });
    if (faults.length > 0) reportPatchFaults(context, faults, options.fieldValidation);
    return object as unknown as Scale;
  };
}

function checkScale(scale: Scale, old: KubeObject, definition: ResourceDefinition): void {
  const replicas = scale.spec?.replicas ?? 0;
  const name = old.metadata.name!;
  if (replicas < 0) throw invalidError({ group: "autoscaling", kind: "Scale" }, name, [invalid(FieldPath.root("spec", "replicas"), replicas, "must be greater than or equal to 0")]);
  const uid = scale.metadata.uid ?? "";
  if (uid !== "" && uid !== old.metadata.uid) throw conflictError(definition, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`);
}
