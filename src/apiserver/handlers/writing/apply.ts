/** Server-side apply (documentation page "Server-Side Apply"). */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { DecodeError, decodeUntyped, faultWarnings } from "../../../apimachinery/decode/decode-object.ts";
import { deepCopy, isObject } from "../../../apimachinery/json.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import { jsonKind } from "../../../apimachinery/patch/go-text.ts";
import { PatchError } from "../../../apimachinery/patch/patch-error.ts";
import { applyConfiguration } from "../../../apimachinery/managed-fields/manager.ts";
import type { ApplyInput, ApplyOutcome } from "../../../apimachinery/managed-fields/manager.ts";
import { apiVersionOf } from "../../../apimachinery/object.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { StatusError, badRequestError, notFoundError } from "../../../apimachinery/status.ts";
import { formatTime } from "../../../apimachinery/time.ts";
import { asJson, managerOf, resetFieldsOf, setManagedFields } from "../../registry/field-tracking.ts";
import { withOtherVersions } from "../../registry/versions/other-versions.ts";
import { parseWriteOptions } from "../../registry/options.ts";
import type { WriteOptions } from "../../registry/options.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { updateObject } from "../../registry/update.ts";
import type { RequestContext } from "../../request-context.ts";
import { respondWritten } from "./create.ts";
import { checkBodySize } from "./decode-body.ts";
import { checkName } from "../reading/get.ts";
import { decodePatched, patchFailure } from "./patch.ts";
import { negotiateFor, objectTransforms } from "../respond.ts";

export async function handleApply(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const { namespace, name, subresource } = context.info;
  const form = negotiateFor(context, objectTransforms(definition, context.info.subresource));
  checkName(name);
  const options = parseWriteOptions(context.query, "PatchOptions", true);
  checkBodySize(context);
  const { config, warnings } = readConfiguration(context);
  const result = await updateObject({
    context,
    definition,
    namespace,
    name,
    subresource,
    options,
    createsMissing: subresource === "",
    produce(old) {
      if (old === undefined && subresource !== "") throw notFoundError(definition, name);
      return applyTo({ context, definition, options, name }, config, old);
    },
  });
  for (const warning of warnings) context.warnings.add(warning);
  return respondWritten(context, definition, result, { form, status: result.isCreated ? 201 : 200 });
}

/** The fields to be owned, and what is to be said when they have been applied. */
export interface Configuration {
  readonly config: JsonObject;
  readonly warnings: readonly string[];
}

/** The body: YAML, JSON, or CBOR when it says so. Throws 400. */
export function readConfiguration(context: RequestContext): Configuration {
  const isCbor = (context.request.headers["content-type"] ?? "").startsWith("application/apply-patch+cbor");
  let value;
  let faults;
  try {
    ({ value, faults } = decodeUntyped(context.request.body, { mediaType: isCbor ? "cbor" : "yaml" }));
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequestError(`error encoding patch: ${error.message}`);
  }
  context.audit?.noteRequestBody(value);
  if (value === null) return { config: {}, warnings: [] };
  if (!isObject(value))
    throw badRequestError(
      `error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`,
    );
  const validation = context.query.get("fieldValidation") ?? "Warn";
  if (faults.length > 0 && validation === "Strict") throw badRequestError(`error strict decoding patch: error converting YAML to JSON: ${faults.join(", ")}`);
  return { config: value, warnings: validation === "Ignore" ? [] : faultWarnings(faults) };
}

interface ApplyTarget {
  readonly context: RequestContext;
  readonly definition: ResourceDefinition;
  readonly options: WriteOptions;
  readonly name: string;
}

async function applyTo(target: ApplyTarget, config: JsonObject, old: KubeObject | undefined): Promise<KubeObject> {
  const { context, definition, options } = target;
  const subresource = context.info.subresource;
  const input = {
    schema: definition.schema,
    liveObject: old === undefined ? undefined : asJson(old, definition),
    config,
    manager: managerOf(context, options.fieldManager),
    force: options.force,
    apiVersion: apiVersionOf(definition.group, definition.version),
    subresource,
    nowText: formatTime(context.server.clock.nowMs()),
    resetFields: resetFieldsOf(definition, subresource),
    kind: definition.kind,
  };
  const outcome = await withOtherVersions(definition, context.server.resources, (otherVersions) => attemptApply({ ...input, otherVersions }));
  const origin = { type: "application/apply-patch+yaml" as const, patch: config };
  const { object: decoded, faults } =
    definition.codec !== undefined
      ? { object: definition.codec.adopt(deepCopy(outcome.object)), faults: [] }
      : decodePatched(definition.schema, outcome.object, origin);
  if (faults.length > 0) throw new StatusError({ message: `failed to decode the applied object: ${faults.join(", ")}`, code: 500 });
  const object = decoded as unknown as KubeObject;
  object.metadata ??= {};
  object.metadata.name ??= target.name;
  if (object.metadata.name !== target.name)
    throw badRequestError(`the name of the object (${object.metadata.name}) does not match the name on the URL (${target.name})`);
  definition.strategy?.defaults?.(object, context.server.clock.nowMs());
  setManagedFields(object, outcome.managedFields);
  return object;
}

/** Applies, or throws the Status of what stands in the way: 409 with one cause for each field that others own. */
export function attemptApply(input: ApplyInput): Extract<ApplyOutcome, { kind: "applied" }> {
  let outcome: ApplyOutcome;
  try {
    outcome = applyConfiguration(input);
  } catch (error) {
    throw error instanceof PatchError ? patchFailure(error) : error;
  }
  if (outcome.kind === "applied") return outcome;
  throw new StatusError({ message: outcome.statusMessage, reason: "Conflict", details: { causes: outcome.causes }, code: 409 });
}
