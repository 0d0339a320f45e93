/** The rules of a custom resource's writes, made from one version of its definition. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { deepCopy, deepEqual } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { GroupVersionKind, KubeObject } from "../../apimachinery/object.ts";
import { applyDefaults } from "../../apimachinery/structural/defaults.ts";
import { listTypeErrors } from "../../apimachinery/structural/list-types.ts";
import { schemaErrors } from "../../apimachinery/structural/validation/validate.ts";
import { validateObjectMetaUpdate } from "../../api/meta/object-meta.ts";
import type { KindStrategy, RuleContext } from "../../api/strategy.ts";
import { embeddedErrors } from "./embedded-resources.ts";
import { scaleErrors } from "./scale/scale-paths.ts";
import type { ScalePaths } from "./scale/scale-paths.ts";
import type { SelectableField } from "./selectable-fields.ts";
import type { VersionSchema } from "./version-schema.ts";

export interface StrategyOptions {
  readonly gvk: GroupVersionKind;
  readonly schema: VersionSchema;
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  readonly selectableFields: readonly SelectableField[];
}

export function customResourceStrategy(options: StrategyOptions): KindStrategy {
  const { gvk, schema, hasStatus, selectableFields } = options;
  return {
    gvk,
    nameRule: subdomainName,
    requiresQualifiedFinalizers: false,
    generation: hasStatus ? "spec" : isContentChanged,
    defaults: (object: KubeObject) => void (schema.hasDefaults && applyDefaults(object as unknown as JsonValue, schema.structural)),
    create: {
      prepare: (object: KubeObject) => void (hasStatus && delete object["status"]),
      validate: (object: KubeObject, context) => createErrors(object, options, context),
      warnings: finalizerWarnings,
    },
    update: {
      prepare: (object: KubeObject, old: KubeObject) => {
        if (hasStatus) restoreStatus(object, old);
      },
      validate: (object: KubeObject, old: KubeObject, context) => updateErrors(object, old, options, context),
      warnings: (object: KubeObject, old: KubeObject) => finalizerWarnings(object, old),
      resetFields: hasStatus ? ["status"] : [],
      allowsUnconditional: false,
    },
    ...(hasStatus && {
      status: {
        prepare: keepAllButStatus,
        validate: (object: KubeObject, old: KubeObject, context: RuleContext) => statusErrors(object, old, options, context),
        get resetFields() {
          return ["metadata", "spec", ...[...schema.structural.properties.keys()].filter((name) => name !== "status" && name !== "metadata")];
        },
      },
    }),
    ...(selectableFields.length > 0 && {
      selectableFields: (object: KubeObject) => Object.fromEntries(selectableFields.map((field) => [field.label, field.valueOf(object)])),
    }),
  };
}

/** Without a status of its own, everything but metadata counts. */
function isContentChanged(object: KubeObject, old: KubeObject): boolean {
  const content = ({ metadata: _m, kind: _k, apiVersion: _a, ...rest }: KubeObject) => rest;
  return !deepEqual(content(object), content(old));
}

function restoreStatus(object: KubeObject, old: KubeObject): void {
  if (old["status"] === undefined) delete object["status"];
  else object["status"] = deepCopy(old["status"]);
}

/** A write to the status changes nothing else but who owns fields. */
function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  const { status } = object as { status?: unknown };
  const { managedFields } = object.metadata;
  for (const name of Object.keys(object)) if (name !== "metadata") delete object[name];
  Object.assign(object, deepCopy(old));
  if (managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = managedFields;
  if (status === undefined) delete object["status"];
  else object["status"] = status;
}

function createErrors(object: KubeObject, { gvk, schema, scale }: StrategyOptions, context: RuleContext): FieldError[] {
  const { structural } = schema;
  const json = object as unknown as JsonObject;
  const errors = [
    ...typeErrors(object, gvk),
    ...schemaErrors(json, structural),
    ...(scale === undefined ? [] : [...scaleErrors(object, scale, "spec"), ...scaleErrors(object, scale, "status")]),
    ...(schema.hasEmbeddedResources ? embeddedErrors(json, structural) : []),
    ...listTypeErrors(json, structural, FieldPath.root()),
  ];
  return [...errors, ...schema.rules.check(object, undefined, errors, context)];
}

function updateErrors(object: KubeObject, old: KubeObject, options: StrategyOptions, context: RuleContext): FieldError[] {
  const { gvk, schema, scale } = options;
  const errors = [
    ...typeErrors(object, gvk),
    ...validateObjectMetaUpdate(object.metadata, old.metadata, FieldPath.root("metadata"), false),
    ...schemaErrors(object as unknown as JsonObject, schema.structural, { old: old as unknown as JsonObject }),
    ...(scale === undefined ? [] : [...scaleErrors(object, scale, "spec"), ...scaleErrors(object, scale, "status")]),
  ];
  return withStructure(errors, object, old, options, context);
}

function statusErrors(object: KubeObject, old: KubeObject, options: StrategyOptions, context: RuleContext): FieldError[] {
  const { gvk, schema, scale } = options;
  const statusSchema = schema.structural.properties.get("status");
  const [status, oldStatus] = [object["status"] as JsonValue | undefined, old["status"] as JsonValue | undefined];
  const errors = [
    ...typeErrors(object, gvk),
    ...validateObjectMetaUpdate(object.metadata, old.metadata, FieldPath.root("metadata"), false),
    ...(status === undefined || statusSchema === undefined
      ? []
      : schemaErrors(status, statusSchema, { prefix: "status", ...(oldStatus !== undefined && { old: oldStatus }) })),
    ...(scale === undefined ? [] : scaleErrors(object, scale, "status")),
  ];
  return withStructure(errors, object, old, options, context);
}

/** Lists that were at fault before may stay so. */
function withStructure(errors: FieldError[], object: KubeObject, old: KubeObject, { schema }: StrategyOptions, context: RuleContext): FieldError[] {
  const { structural } = schema;
  const [json, oldJson] = [object as unknown as JsonObject, old as unknown as JsonObject];
  if (schema.hasEmbeddedResources) errors.push(...embeddedErrors(json, structural));
  const listErrors = listTypeErrors(json, structural, FieldPath.root());
  if (listErrors.length > 0 && listTypeErrors(oldJson, structural, FieldPath.root()).length === 0) errors.push(...listErrors);
  return [...errors, ...schema.rules.check(object, old, errors, context)];
}

function typeErrors(object: KubeObject, { group, version, kind }: GroupVersionKind): FieldError[] {
  const apiVersion = apiVersionOf(group, version);
  return [
    ...(object.kind === kind ? [] : [invalid(FieldPath.root("kind"), object.kind, `must be ${kind}`)]),
    ...(object.apiVersion === apiVersion ? [] : [invalid(FieldPath.root("apiVersion"), object.apiVersion, `must be ${apiVersion}`)]),
  ];
}

/** Finalizers without a domain are taken, but not liked. */
function finalizerWarnings(object: KubeObject, old?: KubeObject | RuleContext): string[] {
  const before = (old !== undefined && "metadata" in old ? (old as KubeObject).metadata.finalizers : undefined) ?? [];
  const own = (object.metadata.finalizers ?? []).filter((name) => !name.includes("/") && !standardFinalizers.has(name) && !before.includes(name));
  return own.map(
    (name) =>
      `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
  );
}

const standardFinalizers: ReadonlySet<string> = new Set(["orphan", "foregroundDeletion", "kubernetes"]);
