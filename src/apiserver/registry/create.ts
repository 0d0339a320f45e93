/** The generic creation of an object, from the decoded body to the stored bytes (design: "Life of a write"). */
import { nameSuffix, newUid } from "../../base/ids.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { StatusError, alreadyExistsError, badRequestError, forbiddenError, invalidError, isAlreadyExists } from "../../apimachinery/status.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { RuleContext } from "../../api/strategy.ts";
import { validateObjectMeta } from "../../api/meta/object-meta.ts";
import type { AdmissionRequest } from "../admission/chain.ts";
import { requireCreate } from "../authz/create-right.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { isUnreadable } from "../cache/unreadable-value.ts";
import { timed } from "../audit/latencies.ts";
import type { RequestContext } from "../request-context.ts";
import { commitPut, encodeForStore } from "./commit.ts";
import { readBack } from "./versions/convert.ts";
import { trackUpdate } from "./field-tracking.ts";
import { dropDuplicateOwners } from "./owner-references.ts";
import type { WriteOptions } from "./options.ts";
import { errorKind } from "./resource-definition.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { ruleContext } from "./rule-context.ts";

export interface CreateRequest {
  readonly context: RequestContext;
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly options: WriteOptions;
  /** Decoded and defaulted; owned by this call. */
  readonly object: KubeObject;
  /** Set when the managed fields were already computed (server-side apply). */
  readonly isTracked?: boolean;
  /** Set when what was asked for is no creation: whoever asked must be allowed to create. */
  readonly takesCreateRight?: boolean;
}

/** What a write leaves: the stored object, or (dry run) the object as it would have been stored. */
export type Written = { readonly stored: StoredObject } | { readonly dryRun: KubeObject };

/** How often a generated name is tried again when it is taken (KEP-4420). */
const nameAttempts = 8;

/** Creates the object. Throws StatusError: 422 with all faults, 409 when the name is taken, what admission refuses. */
export async function createObject(request: CreateRequest): Promise<Written> {
  const { context, definition, object, options } = request;
  if (definition.creationRefusal !== undefined) throw forbiddenError(definition, object.metadata.name ?? "", definition.creationRefusal);
  wipeSystemFields(object);
  dropDuplicateOwners(object, context.warnings, "request");
  const base = isNameless(object) ? (object.metadata.generateName ?? "") : "";
  const isGenerated = base !== "";
  if (definition.isNamespaced) fillNamespace(object, request.namespace);
  else delete object.metadata.namespace;
  if (request.isTracked !== true) await trackUpdate(request, object, undefined, "");
  const admission = admissionRequest(request, object);
  // Mutating admission sees the wish, not the name: it is made up only afterwards, in the metadata that admission may have replaced.
  await context.server.admission.mutate(admission);
  if (isGenerated && isNameless(object)) object.metadata.name = generateName(context, base);
  dropDuplicateOwners(object, context.warnings, "admission");
  if (definition.isNamespaced) fillNamespace(object, request.namespace);
  const rules = ruleContext(context, definition.isNamespaced ? request.namespace : "", "", options.isDryRun);
  for (let attempt = 1; ; attempt++) {
    try {
      return await createNamed(request, admission, rules);
    } catch (error) {
      if (!isAlreadyExists(error) || (object.metadata.generateName ?? "") === "") throw error;
      if (!isGenerated || attempt === nameAttempts) throw generatedNameTaken(error);
      object.metadata.name = generateName(context, base);
    }
  }
}

async function createNamed(request: CreateRequest, admission: AdmissionRequest, rules: RuleContext): Promise<Written> {
  const { context, definition, object, options } = request;
  const server = context.server;
  const strategy = definition.strategy!;
  const metadata = object.metadata;
  resetSystemFields(request, rules);
  strategy.create.prepare?.(object, rules);
  const errors = [
    ...validateObjectMeta(
      metadata,
      { nameRule: strategy.nameRule, isNamespaced: definition.isNamespaced, requiresQualifiedFinalizers: strategy.requiresQualifiedFinalizers !== false },
      FieldPath.root("metadata"),
    ),
    ...(strategy.create.validate?.(object, rules) ?? []),
  ];
  if (errors.length > 0) throw invalidError(errorKind(definition, object), metadata.name ?? "", errors);
  for (const warning of strategy.create.warnings?.(object, rules) ?? []) context.warnings.add(warning);
  const allocation = await server.allocator.allocate({ server, definition, object, oldObject: undefined, isDryRun: options.isDryRun });
  try {
    if (request.takesCreateRight === true) await requireCreate(context);
    await server.admission.validate({ ...admission, name: metadata.name ?? "" });
    if (!options.isDryRun) refuseVersion(metadata);
    const name = metadata.name!;
    const key = definition.isNamespaced ? `${request.namespace}/${name}` : name;
    const existing = definition.storage!.cache.get(key);
    if (existing !== undefined) throw takenError(definition, name, existing);
    // What prepare and admission have added is defaulted like the rest.
    strategy.defaults?.(object, context.server.clock.nowMs());
    const encoded = await encodeForStore(definition, object);
    if (options.isDryRun) {
      await allocation.release();
      return { dryRun: await readBack(definition, object, encoded.bytes) };
    }
    const result = await timed(context, "etcd", () => commitPut(server, definition, { namespace: request.namespace, name }, encoded, 0));
    if (!result.isCommitted) throw takenError(definition, name, result.current);
    await allocation.keep();
    return { stored: result.stored };
  } catch (error) {
    await allocation.release();
    throw error;
  }
}

function isNameless({ metadata }: KubeObject): boolean {
  return (metadata.name ?? "") === "";
}

function fillNamespace(object: KubeObject, namespace: string): void {
  const given = object.metadata.namespace ?? "";
  if (given !== "" && given !== namespace) throw badRequestError(`the namespace of the provided object does not match the namespace sent on the request`);
  object.metadata.namespace = namespace;
}

/** What a client sends of these does not count. */
function wipeSystemFields({ metadata }: KubeObject): void {
  delete metadata.uid;
  delete metadata.creationTimestamp;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete (metadata as Record<string, unknown>)["selfLink"];
}

function resetSystemFields(request: CreateRequest, rules: RuleContext): void {
  const metadata = request.object.metadata;
  const strategy = request.definition.strategy!;
  metadata.uid = newUid(request.context.server.random);
  metadata.creationTimestamp = formatTime(rules.nowMs);
  if (strategy.generation !== "none") metadata.generation = 1;
}

/** What is stored anew may not name a version; a dry run, which stores nothing, answers with it. What is no number passes for none. */
function refuseVersion(metadata: KubeObject["metadata"]): void {
  const version = metadata.resourceVersion ?? "";
  if (/^\d+$/.test(version) && version !== "0") throw new StatusError({ message: "resourceVersion should not be set on objects to be created", code: 500 });
  delete metadata.resourceVersion;
}

function generateName(context: RequestContext, base: string): string {
  // The base is cut so that the name fits into 63 characters with its suffix.
  return base.slice(0, 63 - 5) + nameSuffix(context.server.random);
}

function admissionRequest(request: CreateRequest, object: KubeObject): AdmissionRequest {
  return {
    context: request.context,
    operation: "CREATE",
    definition: request.definition,
    subresource: "",
    namespace: request.definition.isNamespaced ? request.namespace : "",
    name: object.metadata.name ?? "",
    object,
    oldObject: undefined,
    isDryRun: request.options.isDryRun,
  };
}

function takenError(definition: ResourceDefinition, name: string, existing: StoredObject | undefined): StatusError {
  const isLeaving =
    existing !== undefined && !isUnreadable(existing.bytes) && definition.storage!.cache.parse(existing).metadata.deletionTimestamp !== undefined;
  const error = alreadyExistsError(definition, name);
  if (!isLeaving) return error;
  return new StatusError({ ...error.status, message: `object is being deleted: ${error.status.message}` });
}

function generatedNameTaken(error: StatusError): StatusError {
  return new StatusError({
    ...error.status,
    message: `${error.status.message}, the server was not able to generate a unique name for the object`,
    details: { ...error.status.details, retryAfterSeconds: 1 },
  });
}
