/** The generic update of an object: PUT, every kind of PATCH and subresources go through here. */
import { FieldPath } from "../../apimachinery/field-path.ts";
import { invalid } from "../../apimachinery/field-error.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import { StatusError, badRequestError, conflictError, internalServerError, invalidError, notFoundError } from "../../apimachinery/status.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { KindStrategy, RuleContext, UpdateRules } from "../../api/strategy.ts";
import { validateObjectMetaUpdate } from "../../api/meta/object-meta.ts";
import { StoredObject } from "../cache/stored-object.ts";
import { timed } from "../audit/latencies.ts";
import type { RequestContext } from "../request-context.ts";
import { commitDelete, commitPut, encodeForStore } from "./commit.ts";
import { createObject } from "./create.ts";
import type { Written } from "./create.ts";
import { prepareVersions, readBack, readOnce } from "./versions/convert.ts";
import type { WriteOptions } from "./options.ts";
import { dropDuplicateOwners } from "./owner-references.ts";
import { UndecodableError } from "./storage/object-codec.ts";
import { errorKind, relativeKey } from "./resource-definition.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { ruleContext } from "./rule-context.ts";
import { modifiedError } from "./storage/storage-errors.ts";

export interface UpdateRequest {
  readonly context: RequestContext;
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  /** `""` for the object itself. */
  readonly subresource: string;
  readonly options: WriteOptions;
  /**
   * The new object made from the current one (undefined: there is none). Called again after a lost race. It must not change `old`; it
   * brings managed fields up to date itself.
   */
  produce(old: KubeObject | undefined): KubeObject | Promise<KubeObject>;
  /** Whether a missing object is created: PUT of kinds that allow it, server-side apply. */
  readonly createsMissing: boolean;
  /** PUT: the uid sent must be the object's. */
  readonly checksUid?: boolean;
}

export type Updated = Written & { readonly isCreated: boolean };

/** Lost races are tried again this often before the client is told. */
const raceAttempts = 100;

/** Updates (or creates) the object. Throws StatusError. */
export async function updateObject(request: UpdateRequest): Promise<Updated> {
  const { context, definition } = request;
  const key = relativeKey(definition, request.namespace, request.name);
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    const stored = definition.storage!.cache.get(key);
    if (stored === undefined) return createMissing(request);
    const outcome = await updateStored(request, stored);
    if (outcome !== "raced") return { ...outcome, isCreated: false };
    context.signal.throwIfAborted();
  }
  throw modifiedError(definition, request.name);
}

async function createMissing(request: UpdateRequest): Promise<Updated> {
  const { context, definition, namespace, options } = request;
  if (!request.createsMissing) throw notFoundError(definition, request.name);
  const object = await request.produce(undefined);
  if ((object.metadata.uid ?? "") !== "") throw uidMismatch(request, object.metadata.uid!, "");
  // (What is made by an update may name a version, which is of no consequence.)
  delete object.metadata.resourceVersion;
  const written = await createObject({ context, definition, namespace, options, object, isTracked: true, takesCreateRight: true });
  return { ...written, isCreated: true };
}

async function updateStored(request: UpdateRequest, stored: StoredObject): Promise<Written | "raced"> {
  const { context, definition, options } = request;
  const server = context.server;
  const old = await readOld(definition, stored);
  const object = await request.produce(old);
  if (request.checksUid === true && (object.metadata.uid ?? "") !== "" && object.metadata.uid !== old.metadata.uid)
    throw uidMismatch(request, object.metadata.uid!, old.metadata.uid ?? "");
  checkNamespace(request, object);
  checkVersion(request, object, old);
  await server.admission.mutate(admissionOf(request, object, old));
  dropDuplicateOwners(object, context.warnings, "admission");
  const rules = ruleContext(context, definition.isNamespaced ? request.namespace : "", request.subresource, options.isDryRun);
  prepareUpdate(request, object, old, rules);
  const allocation = await server.allocator.allocate({ server, definition, object, oldObject: old, isDryRun: options.isDryRun });
  try {
    await server.admission.validate(admissionOf(request, object, old));
    const result = await writeUpdated(request, stored, object);
    if (result === "raced" || options.isDryRun) await allocation.release();
    else await allocation.keep();
    return result;
  } catch (error) {
    await allocation.release();
    throw error;
  }
}

/** What cannot be read cannot be changed; the fault is told as it is. */
async function readOld(definition: ResourceDefinition, stored: StoredObject): Promise<KubeObject> {
  try {
    await prepareVersions(definition, [stored]);
    return readOnce(definition, stored);
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error;
    throw error.isSealed ? internalServerError(error.fault) : new StatusError({ message: error.fault, code: 500 }, error);
  }
}

async function writeUpdated(request: UpdateRequest, stored: StoredObject, object: KubeObject): Promise<Written | "raced"> {
  const { context, definition, options } = request;
  definition.strategy!.defaults?.(object, context.server.clock.nowMs());
  const encoded = await encodeForStore(definition, object);
  const { bytes } = encoded;
  if (options.isDryRun) {
    const { metadata, ...rest } = await readBack(definition, object, bytes);
    return { dryRun: { ...rest, metadata: { ...metadata, resourceVersion: String(stored.revision) } } };
  }
  if (isFinished(object, definition.strategy!)) {
    const last = await timed(context, "etcd", () => commitDelete(context.server, definition, stored));
    // The answer shows what the object would have become.
    return last.isCommitted ? { stored: new StoredObject(stored.key, bytes, last.stored.revision, stored.createRevision) } : "raced";
  }
  if (bytes.equals(stored.bytes) && (await context.server.store.isStale?.(definition.storage!.prefix + stored.key)) !== true) return { stored };
  const result = await timed(context, "etcd", () => commitPut(context.server, definition, request, encoded, stored.revision));
  return result.isCommitted ? { stored: result.stored } : "raced";
}

/** An object being deleted goes once its last finalizer is gone and no grace remains. */
function isFinished(object: KubeObject, strategy: KindStrategy): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata;
  if (strategy.delete?.holds?.(object) === true) return false;
  return deletionTimestamp !== undefined && (finalizers ?? []).length === 0 && (deletionGracePeriodSeconds ?? 0) === 0;
}

function checkNamespace({ definition, namespace }: UpdateRequest, { metadata }: KubeObject): void {
  const given = metadata.namespace ?? "";
  if (definition.isNamespaced && given !== "" && given !== namespace)
    throw badRequestError("the namespace of the provided object does not match the namespace sent on the request");
}

function checkVersion(request: UpdateRequest, object: KubeObject, old: KubeObject): void {
  const given = object.metadata.resourceVersion ?? "";
  const { definition } = request;
  if (given === "" || given === "0") {
    if (definition.strategy!.update.allowsUnconditional === false) {
      throw invalidError({ group: definition.group, kind: definition.resource }, request.name, [
        invalid(FieldPath.root("metadata", "resourceVersion"), 0, "must be specified for an update"),
      ]);
    }
    object.metadata.resourceVersion = old.metadata.resourceVersion!;
    return;
  }
  if (!/^\d+$/.test(given)) throw new StatusError({ message: `strconv.ParseUint: parsing ${goQuote(given)}: invalid syntax`, code: 500 });
  if (given !== old.metadata.resourceVersion) throw modifiedError(definition, request.name);
}

/** 409 of a write that names another uid than the object has, as the storage words it. */
/** `context` and `options`: of the request; a dry run knows nothing of the root of all keys. */
export function uidMismatch(
  {
    context,
    definition,
    namespace,
    name,
    options,
  }: Pick<UpdateRequest, "context" | "definition" | "namespace" | "name"> & { readonly options: Pick<WriteOptions, "isDryRun"> },
  given: string,
  actual: string,
): StatusError {
  const { prefix } = definition.storage!;
  const key = (options.isDryRun ? prefix.slice(context.server.settings.storageRoot.length - 1) : prefix) + relativeKey(definition, namespace, name);
  return conflictError(
    definition,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${given}, UID in object meta: ${actual}`,
  );
}

function prepareUpdate(request: UpdateRequest, object: KubeObject, old: KubeObject, rules: RuleContext): void {
  const { definition, context } = request;
  const strategy = definition.strategy!;
  const specific = rulesOf(strategy, request.subresource);
  const { metadata } = object;
  if (definition.isNamespaced) {
    checkNamespace(request, object);
    metadata.namespace = request.namespace;
  } else delete metadata.namespace;
  keepSystemFields(object, old);
  specific.prepare?.(object, old, rules);
  // Preparation may have put back the whole of the old metadata.
  if (request.subresource !== "status" && isGenerationMoved(strategy, object, old)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  const errors = [
    ...validateObjectMetaUpdate(object.metadata, old.metadata, FieldPath.root("metadata"), strategy.requiresQualifiedFinalizers !== false),
    ...(specific.validate?.(object, old, rules) ?? []),
  ];
  if (errors.length > 0) throw invalidError(errorKind(definition, object), object.metadata.name ?? request.name, errors);
  for (const warning of specific.warnings?.(object, old, rules) ?? []) context.warnings.add(warning);
}

export function rulesOf<T extends KubeObject>(strategy: KindStrategy<T>, subresource: string): UpdateRules<T> {
  if (subresource === "") return strategy.update;
  if (subresource === "status") return strategy.status ?? {};
  return strategy.subresources?.[subresource] ?? strategy.update;
}

function keepSystemFields(object: KubeObject, old: KubeObject): void {
  const { metadata } = object;
  if (old.metadata.generation === undefined) delete metadata.generation;
  else metadata.generation = old.metadata.generation;
  if ((metadata.uid ?? "") === "" && old.metadata.uid !== undefined) metadata.uid = old.metadata.uid;
  if (typeof old.metadata.creationTimestamp === "string") metadata.creationTimestamp = old.metadata.creationTimestamp;
  if (old.metadata.deletionTimestamp !== undefined) {
    metadata.deletionTimestamp ??= old.metadata.deletionTimestamp;
    if (old.metadata.deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds ??= old.metadata.deletionGracePeriodSeconds;
  }
}

function isGenerationMoved(strategy: KindStrategy, object: KubeObject, old: KubeObject): boolean {
  if (strategy.generation === "none") return false;
  if (typeof strategy.generation === "function") return strategy.generation(object, old);
  const content = ({ metadata: _m, status: _s, kind: _k, apiVersion: _a, ...rest }: KubeObject) => rest;
  return !deepEqual(content(object), content(old));
}

export function admissionOf(request: UpdateRequest, object: KubeObject, old: KubeObject) {
  return {
    context: request.context,
    operation: "UPDATE",
    definition: request.definition,
    subresource: request.subresource,
    namespace: request.definition.isNamespaced ? request.namespace : "",
    name: request.name,
    object,
    oldObject: old,
    isDryRun: request.options.isDryRun,
  } as const;
}
