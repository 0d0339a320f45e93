/** PATCH: JSON patch, merge patch, strategic merge patch and server-side apply. */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { DecodeError, decodeUntyped, decodeValue } from "../../../apimachinery/decode/decode-object.ts";
import { deepCopy, isObject, jsonTextOf, setMember, sortedKeys, sortedMembers } from "../../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../../apimachinery/json.ts";
import type { StructSchema } from "../../../apimachinery/schema.ts";
import { apiVersionOf, parseApiVersion } from "../../../apimachinery/object.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { goQuote } from "../../../apimachinery/go/go-quote.ts";
import { goText, jsonKind } from "../../../apimachinery/patch/go-text.ts";
import { structureFault } from "../../../apimachinery/patch/structure-fault.ts";
import { applyJsonPatch, unknownJsonPatchFields } from "../../../apimachinery/patch/json-patch.ts";
import { applyMergePatch } from "../../../apimachinery/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../../../apimachinery/patch/strategic-merge-patch.ts";
import { PatchError } from "../../../apimachinery/patch/patch-error.ts";
import { StatusError, badRequestError, internalServerError, invalidError, notFoundError } from "../../../apimachinery/status.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { asJson, trackUpdate } from "../../registry/field-tracking.ts";
import type { ObjectCodec } from "../../registry/storage/object-codec.ts";
import { parseWriteOptions } from "../../registry/options.ts";
import type { WriteOptions } from "../../registry/options.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { updateObject } from "../../registry/update.ts";
import { servedMediaTypes } from "../../http/negotiation.ts";
import type { RequestContext } from "../../request-context.ts";
import { handleApply } from "./apply.ts";
import { respondWritten } from "./create.ts";
import { checkBodySize, unsupportedMediaType } from "./decode-body.ts";
import { checkName } from "../reading/get.ts";
import { checkObjectName } from "./update.ts";
import { negotiateFor, objectTransforms } from "../respond.ts";

export type PatchType =
  | "application/json-patch+json"
  | "application/merge-patch+json"
  | "application/strategic-merge-patch+json"
  | "application/apply-patch+yaml"
  | "application/apply-patch+cbor";

export async function handlePatch(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const type = patchType(context, definition);
  if (type === "application/apply-patch+yaml" || type === "application/apply-patch+cbor") return handleApply(context, definition);
  const { namespace, name, subresource } = context.info;
  const form = negotiateFor(context, objectTransforms(definition, context.info.subresource));
  checkName(name);
  const options = parseWriteOptions(context.query, "PatchOptions");
  checkBodySize(context);
  const body = readPatch(context, type);
  const result = await updateObject({
    context,
    definition,
    namespace,
    name,
    subresource,
    options,
    createsMissing: false,
    async produce(old) {
      if (old === undefined) throw notFoundError(definition, name);
      const object = patchObject({ context, definition, options, type }, old, body);
      await trackUpdate({ context, definition, options }, object, old, subresource);
      return object;
    },
  });
  return respondWritten(context, definition, result, { form, status: 200 });
}

/** The patch type of a request. Throws 415 that lists those to be had. */
export function patchType(context: RequestContext, definition: ResourceDefinition): PatchType {
  const types: PatchType[] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    ...(definition.isCustom ? [] : ["application/strategic-merge-patch+json" as const]),
    "application/apply-patch+yaml",
    ...(servedMediaTypes(context.server).includes("application/cbor") ? ["application/apply-patch+cbor" as const] : []),
  ];
  const asked = (context.request.headers["content-type"] ?? "").split(";")[0]!.trim();
  const type = types.find((known) => known === asked);
  if (type === undefined && definition.isCustom) throw unsupportedMediaType(types);
  if (type === undefined) throw new StatusError({ message: "415: Unsupported Media Type", reason: "UnsupportedMediaType", details: {}, code: 415 });
  return type;
}

/** A patch and what is doubled in it. */
export interface PatchBody {
  readonly patch: JsonValue;
  readonly faults: readonly string[];
}

export function readPatch(context: RequestContext, type: PatchType): PatchBody {
  try {
    const { value, faults } = decodeUntyped(context.request.body, { mediaType: "json" });
    context.audit?.noteRequestBody(value);
    if (type !== "application/json-patch+json") return { patch: value, faults };
    return { patch: value, faults: [...faults.map((fault) => `json patch ${fault}`), ...unknownJsonPatchFields(value)] };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    if (error.reason === "syntax") throw badRequestError("invalid JSON patch");
    throw badRequestError(type === "application/json-patch+json" ? `error decoding patch: ${error.message}` : error.message);
  }
}

interface PatchTarget {
  readonly context: RequestContext;
  readonly definition: ResourceDefinition;
  readonly options: WriteOptions;
  readonly type: PatchType;
}

/** The patched object, decoded and defaulted like one that a client sent. */
function patchObject(target: PatchTarget, old: KubeObject, { patch, faults: patchFaults }: PatchBody): KubeObject {
  const { definition, context, options } = target;
  const current = asJson(old, definition);
  const patched = patchJson(target.type, current, patch, definition.schema);
  if (!isObject(patched)) throw badRequestError("the patch does not give an object");
  const { object, faults } =
    definition.codec === undefined
      ? decodePatched(patchedSchema(definition, patched), patched, { type: target.type, patch })
      : decodePatchedCustom(definition.codec, patched);
  faults.unshift(...patchFaults);
  if (faults.length > 0)
    reportPatchFaults(context, faults, {
      fieldValidation: options.fieldValidation,
      shown: () => shownPatch(patched, { type: target.type, patch, isCustom: definition.isCustom }),
    });
  const result = object as unknown as KubeObject;
  result.metadata ??= {};
  if (definition.codec === undefined) checkPatchedType(target, result, patched, patch);
  checkObjectName(result, context.info.name);
  definition.strategy?.defaults?.(result, context.server.clock.nowMs());
  return result;
}

/** A patch may say that the object is of another kind: it is read as such before it is refused. */
function patchedSchema(definition: ResourceDefinition, patched: JsonObject): StructSchema {
  const { apiVersion, kind } = patched;
  const version = typeof apiVersion === "string" ? parseApiVersion(apiVersion) : undefined;
  // Without a version nothing is known but the kind.
  if (apiVersion === undefined) return kindOnly(definition.schema);
  return (version !== undefined && typeof kind === "string" ? typeRegistry.kind(version.group, version.version, kind) : undefined) ?? definition.schema;
}

function kindOnly(schema: StructSchema): StructSchema {
  return { ...schema, fields: new Map([...schema.fields].filter(([name]) => name === "kind")) };
}

/** Applies a patch to an object's JSON. Throws StatusError. */
export function patchJson(type: PatchType, current: JsonObject, patch: JsonValue, schema: StructSchema): JsonValue {
  try {
    switch (type) {
      case "application/json-patch+json":
        return applyJsonPatch(current, patch);
      case "application/merge-patch+json":
        return applyMergePatch(current, patch);
      default:
        if (patch === null) return current;
        if (!isObject(patch)) throw badRequestError(`json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`);
        return applyStrategicMergePatch(current, patch, schema);
    }
  } catch (error) {
    throw error instanceof PatchError ? patchFailure(error) : error;
  }
}

/** A patch may not turn the object into another kind. */
function checkPatchedType(target: PatchTarget, object: KubeObject, patched: JsonObject, patch: JsonValue): void {
  const { definition, type } = target;
  const [apiVersion, kind] = [object.apiVersion ?? "", object.kind ?? ""];
  const expected = apiVersionOf(definition.group, definition.version);
  if ((apiVersion === "" || apiVersion === expected) && (kind === "" || kind === definition.kind)) {
    object.apiVersion = expected;
    object.kind = definition.kind;
    return;
  }
  const version = parseApiVersion(apiVersion);
  const isRegistered = version !== undefined && typeRegistry.kind(version.group, version.version, kind) !== undefined;
  const goPackage = definition.group === "" ? "core" : definition.group.split(".")[0];
  if (isRegistered)
    throw invalidPatch(
      shownPatch(patched, { type, patch }),
      `converting (${version.version}.${kind}) to (${goPackage}.${definition.kind}): unknown conversion`,
    );
  throw invalidPatch(
    shownPatch(patched, { type, patch }),
    `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
  );
}

/** The Status of a patch that cannot be applied. */
export function patchFailure(error: PatchError): StatusError {
  switch (error.kind) {
    case "badRequest":
      return new StatusError({ message: error.message, reason: "BadRequest", code: 400 }, error);
    case "unprocessable":
      return new StatusError({ message: "the server rejected our request due to an error in our request", reason: "Invalid", details: {}, code: 422 }, error);
    case "tooLarge":
      return new StatusError({ message: `Request entity too large: ${error.message}`, reason: "RequestEntityTooLarge", code: 413 }, error);
    case "failure":
      return new StatusError({ message: error.message, code: 500 }, error);
  }
}

/** The patched JSON as an object of the kind. Throws 422, which shows the whole of it. */
export function decodePatched(schema: StructSchema, patched: JsonObject, origin: { readonly type: PatchType; readonly patch: JsonValue }) {
  try {
    return decodeValue(inReadOrder(patched, origin), schema);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    if (origin.type === "application/apply-patch+yaml") throw new StatusError({ message: error.message, code: 500 }, error);
    const fault = origin.type === "application/strategic-merge-patch+json" ? structureFault(patched, schema) : undefined;
    throw invalidPatch(shownPatch(patched, origin), fault ?? error.message);
  }
}

/** The patched JSON as a custom resource. Throws 422 and, when apiVersion or kind are gone, 500. */
function decodePatchedCustom(codec: ObjectCodec, patched: JsonObject) {
  if (patched["apiVersion"] === undefined) throw internalServerError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  const shown = jsonTextOf(sortedMembers(patched));
  if (patched["kind"] === undefined) throw invalidPatch(shown, `Object 'Kind' is missing in '${shown}'`);
  try {
    return codec.decode(deepCopy(patched));
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw invalidPatch(shown, error.message);
  }
}

/** Members in order wherever the patch reached: only that was read. Does not recurse. */
function sortedWhere(patched: JsonObject, patch: JsonValue): JsonObject {
  if (!isObject(patch)) return patched;
  const root: JsonObject = {};
  const pending: [target: JsonObject, source: JsonObject, reach: JsonObject][] = [[root, patched, patch]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [target, source, reach] = next;
    for (const name of sortedKeys(source)) {
      const value = source[name]!;
      const below = Object.hasOwn(reach, name) ? reach[name]! : null;
      if (isObject(value) && isObject(below)) {
        const copy: JsonObject = {};
        setMember(target, name, copy);
        pending.push([copy, value, below]);
      } else setMember(target, name, value);
    }
  }
  return root;
}

function inReadOrder(patched: JsonObject, { type, patch }: { readonly type: PatchType; readonly patch: JsonValue }): JsonObject {
  if (type === "application/merge-patch+json") return sortedWhere(patched, patch);
  return sortedWhere(patched, type === "application/json-patch+json" ? reachOf(patch) : {});
}

/** The objects that a JSON patch went through on the way to its targets, as a tree. */
function reachOf(patch: JsonValue): JsonObject {
  const reach: JsonObject = {};
  for (const operation of Array.isArray(patch) ? patch : []) {
    const path = isObject(operation) ? operation["path"] : undefined;
    if (typeof path !== "string") continue;
    let at = reach;
    for (const part of path.split("/").slice(1, -1)) {
      const below = Object.hasOwn(at, part) && isObject(at[part]) ? at[part] : {};
      setMember(at, part, below);
      at = below;
    }
  }
  return reach;
}

/** A strategic patch is shown itself in errors, the others by what they made, members sorted. */
export function shownPatch(patched: JsonObject, origin: { readonly type: PatchType; readonly patch: JsonValue; readonly isCustom?: boolean }): string {
  if (origin.isCustom === true) return jsonTextOf(sortedMembers(patched));
  if (origin.type === "application/strategic-merge-patch+json") return goText(origin.patch);
  return jsonTextOf(inReadOrder(patched, origin));
}

function invalidPatch(shown: string, fault: string): StatusError {
  return invalidError({ group: "", kind: "" }, "", [{ reason: "FieldValueInvalid", field: "patch", message: `Invalid value: ${goQuote(shown)}: ${fault}` }]);
}

/** Unknown fields that a patch brings: with Strict a 422 without a kind. */
export function reportPatchFaults(
  context: RequestContext,
  faults: readonly string[],
  report: { readonly fieldValidation: WriteOptions["fieldValidation"]; readonly shown: () => string },
): void {
  if (report.fieldValidation === "Ignore") return;
  if (report.fieldValidation === "Strict") throw invalidPatch(report.shown(), `strict decoding error: ${faults.join(", ")}`);
  for (const fault of faults) context.warnings.add(fault);
}
