/** `/scale` of the workload kinds: an autoscaling/v1 Scale in front of `spec.replicas`. */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import type { Scale } from "../../../api/autoscaling-v1/types.ts";
import type { LabelSelector } from "../../../api/meta-v1/types.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { selectorFromObject, labelSelectorText } from "../../../apimachinery/selectors/label-selector.ts";
import { deepCopy, isObject } from "../../../apimachinery/json.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import { canonicalize } from "../../../apimachinery/encode/canonical.ts";
import { updateManagedFields } from "../../../apimachinery/managed-fields/manager.ts";
import { parentEntriesAfterScale, scaleEntries } from "../../../apimachinery/managed-fields/scale-entries.ts";
import { apiVersionOf } from "../../../apimachinery/object.ts";
import type { KubeObject, ManagedFieldsEntry } from "../../../apimachinery/object.ts";
import { formatTime } from "../../../apimachinery/time.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { invalid } from "../../../apimachinery/field-error.ts";
import { StatusError, badRequestError, invalidError, notFoundError } from "../../../apimachinery/status.ts";
import type { StoredObject } from "../../cache/stored-object.ts";
import { prepareVersions, readVersion } from "../../registry/versions/convert.ts";
import { managerOf, setManagedFields } from "../../registry/field-tracking.ts";
import { parseWriteOptions } from "../../registry/options.ts";
import type { WriteOptions } from "../../registry/options.ts";
import { withScaleTable } from "../../customresources/scale/scale-table.ts";
import { customScaleParts, withCustomReplicas } from "../../customresources/scale/scale.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { uidMismatch, updateObject } from "../../registry/update.ts";
import type { UpdateRequest } from "../../registry/update.ts";
import type { RequestContext } from "../../request-context.ts";
import { decodeBody } from "../writing/decode-body.ts";
import { findStored } from "../reading/get.ts";
import { checkObjectName } from "../writing/update.ts";
import { attemptApply, readConfiguration } from "../writing/apply.ts";
import { decodePatched, patchJson, patchType, readPatch, reportPatchFaults, shownPatch } from "../writing/patch.ts";
import type { PatchType } from "../writing/patch.ts";
import { negotiateFor, respondObject } from "../respond.ts";

const scaleSchema = typeRegistry.kind("autoscaling", "v1", "Scale")!;
const scaleType = { group: "autoscaling", version: "v1", kind: "Scale", schema: scaleSchema };

export async function handleScale(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const form = negotiateFor(context, ["Table", "PartialObjectMetadata"]);
  const respond = (object: KubeObject, isLenient = true) =>
    respondObject(context, withScaleTable(definition), scaleOf(object, definition, isLenient) as unknown as KubeObject, {
      form,
      status: 200,
      schema: scaleSchema,
    });
  const read = async (stored: StoredObject) => {
    await prepareVersions(definition, [stored]);
    return readVersion(definition, stored);
  };
  if (context.request.method === "GET") return respond(await read(await findStored(context, definition)), false);
  const { options, change } = readChange(context, definition);
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
      const { scale, entries } = change(withEntries(scaleOf(old, definition), old, definition));
      checkScale(scale, old, { context, definition, options });
      const object = withReplicas(old, definition, scale.spec?.replicas ?? 0);
      if ((scale.metadata.resourceVersion ?? "") !== "") object.metadata.resourceVersion = scale.metadata.resourceVersion!;
      setManagedFields(
        object,
        parentEntriesAfterScale({
          parentEntries: old.metadata.managedFields ?? [],
          written: entries,
          paths: replicasPaths(definition),
          apiVersion: apiVersionOf(definition.group, definition.version),
        }),
      );
      return object;
    },
  });
  return respond("stored" in result ? await read(result.stored) : result.dryRun);
}

/** A copy with other replicas. */
export function withReplicas(object: KubeObject, definition: ResourceDefinition, replicas: number): KubeObject {
  if (definition.scale !== undefined) return withCustomReplicas(object, definition.scale, replicas);
  const copy = deepCopy(object);
  copy["spec"] = { ...(object["spec"] as object), replicas };
  return copy;
}

/** The Scale that a request makes of the present one, and who owns its fields then. */
type ScaleChange = (old: Scale) => { readonly scale: Scale; readonly entries: readonly ManagedFieldsEntry[] };

/** Who owns the replicas, as the Scale's own managed fields. */
function withEntries(scale: Scale, parent: KubeObject, definition: ResourceDefinition): Scale {
  return { ...scale, metadata: { ...scale.metadata, managedFields: scaleEntries(parent.metadata.managedFields ?? [], replicasPaths(definition)) } };
}

function replicasPaths(definition: ResourceDefinition): ReadonlyMap<string, string> {
  return new Map([[apiVersionOf(definition.group, definition.version), definition.scale?.specReplicas.replace(/^\./, "") ?? "spec.replicas"]]);
}

function readChange(context: RequestContext, definition: ResourceDefinition): { readonly options: WriteOptions; readonly change: ScaleChange } {
  if (context.request.method !== "PATCH") {
    const options = parseWriteOptions(context.query, "UpdateOptions");
    return { options, change: tracked(context, options, givenScale(context, options, definition)) };
  }
  const type = patchType(context, definition);
  const options = parseWriteOptions(context.query, "PatchOptions", type === "application/apply-patch+yaml");
  if (type === "application/apply-patch+yaml" && definition.isCustom)
    throw new StatusError({
      message:
        "failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1",
      code: 500,
    });
  if (type === "application/apply-patch+yaml") return { options, change: appliedScale(context, options) };
  return { options, change: tracked(context, options, patchedScale(context, type, { options, hidesEntries: definition.isCustom })) };
}

/** A change that is no apply: its author owns what it changed. */
function tracked(context: RequestContext, options: WriteOptions, change: (old: Scale) => Scale): ScaleChange {
  return (old) => {
    const scale = change(old);
    const entries = updateManagedFields({ ...writeScope(context, options), oldObject: scaleJson(old), newObject: scaleJson(scale) });
    return { scale, entries };
  };
}

function appliedScale(context: RequestContext, options: WriteOptions): ScaleChange {
  const { config, warnings } = readConfiguration(context);
  for (const warning of warnings) context.warnings.add(warning);
  return (old) => {
    const outcome = attemptApply({ ...writeScope(context, options), liveObject: scaleJson(old), config, force: options.force, kind: "Scale" });
    return { scale: outcome.object as unknown as Scale, entries: outcome.managedFields };
  };
}

function writeScope(context: RequestContext, options: WriteOptions) {
  return {
    schema: scaleSchema,
    manager: managerOf(context, options.fieldManager),
    apiVersion: "autoscaling/v1",
    subresource: "scale",
    nowText: formatTime(context.server.clock.nowMs()),
    resetFields: ["status"],
  };
}

function scaleJson(scale: Scale): JsonObject {
  return canonicalize(scale as unknown as JsonObject, scaleSchema);
}

/** The Scale of an object. Its selector is text. */
export function scaleOf(object: KubeObject, definition: ResourceDefinition, isLenient = true): Scale {
  if (definition.scale !== undefined) return { ...scaleHead(object), ...customScaleParts(object, definition.scale, isLenient) };
  const spec = object["spec"] as { replicas?: number; selector?: LabelSelector | Record<string, string> } | undefined;
  const status = object["status"] as { replicas?: number } | undefined;
  return {
    ...scaleHead(object),
    spec: { ...(spec?.replicas !== undefined && { replicas: spec.replicas }) },
    status: { replicas: status?.replicas ?? 0, selector: selectorText(object, spec?.selector) },
  };
}

function scaleHead({ metadata }: KubeObject): Pick<Scale, "kind" | "apiVersion" | "metadata"> {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      name: name!,
      ...(namespace !== undefined && { namespace }),
      uid: uid!,
      resourceVersion: resourceVersion!,
      creationTimestamp: creationTimestamp!,
    },
  };
}

function selectorText(object: KubeObject, selector: LabelSelector | Record<string, string> | undefined): string {
  if (selector === undefined) return "";
  const isPlain = object.kind === "ReplicationController";
  return labelSelectorText(selectorFromObject(isPlain ? { matchLabels: selector as Record<string, string> } : (selector as LabelSelector)));
}

function givenScale(context: RequestContext, options: WriteOptions, definition: ResourceDefinition): (old: Scale) => Scale {
  const given = decodeScale(context, options, definition) as unknown as Scale;
  checkObjectName(given as unknown as KubeObject, context.info.name);
  const namespace = given.metadata.namespace ?? "";
  if (namespace !== "" && namespace !== context.info.namespace)
    throw badRequestError("the namespace of the provided object does not match the namespace sent on the request");
  return () => given;
}

/** Custom resources word the refusal of another type in a way of their own. */
function decodeScale(context: RequestContext, options: WriteOptions, definition: ResourceDefinition): KubeObject {
  try {
    const scale = decodeBody(context, scaleType, options.fieldValidation);
    context.audit?.noteRequest(scale, scaleType);
    return scale;
  } catch (error) {
    if (!definition.isCustom || !(error instanceof StatusError) || !error.message.includes("no kind ")) throw error;
    throw badRequestError('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"');
  }
}

/** `hidesEntries`: the patch does not see the managed fields. */
function patchedScale(
  context: RequestContext,
  type: PatchType,
  { options, hidesEntries }: { readonly options: WriteOptions; readonly hidesEntries: boolean },
): (old: Scale) => Scale {
  const { patch, faults: patchFaults } = readPatch(context, type);
  return (old) => {
    const { managedFields, ...metadata } = old.metadata;
    const patched = patchJson(type, scaleJson(hidesEntries ? { ...old, metadata } : old), patch, scaleSchema);
    if (!isObject(patched)) throw badRequestError("the patch does not give an object");
    const { object, faults } = decodePatched(scaleSchema, patched, { type, patch });
    faults.unshift(...patchFaults);
    if (faults.length > 0) reportPatchFaults(context, faults, { fieldValidation: options.fieldValidation, shown: () => shownPatch(patched, { type, patch }) });
    const scale = object as unknown as Scale;
    return hidesEntries && managedFields !== undefined ? { ...scale, metadata: { ...scale.metadata, managedFields } } : scale;
  };
}

function checkScale(scale: Scale, old: KubeObject, { context, definition, options }: Pick<UpdateRequest, "context" | "definition" | "options">): void {
  const replicas = scale.spec?.replicas ?? 0;
  const name = old.metadata.name!;
  if (replicas < 0 && !definition.isCustom)
    throw invalidError({ group: "autoscaling", kind: "Scale" }, name, [
      invalid(FieldPath.root("spec", "replicas"), replicas, "must be greater than or equal to 0"),
    ]);
  const uid = scale.metadata.uid ?? "";
  if (uid !== "" && uid !== old.metadata.uid)
    throw uidMismatch({ context, definition, options, namespace: old.metadata.namespace ?? "", name }, uid, old.metadata.uid!);
}
