/** The generic deletion of an object: grace, finalizers and propagation (documentation page "Garbage Collection"). */
import { deepCopy, deepEqual } from "../../apimachinery/json.ts";
import { conflictError, forbiddenError, invalidError, notFoundError } from "../../apimachinery/status.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { formatTime } from "../../apimachinery/time.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { isUnreadable, unreadableFault } from "../cache/unreadable-value.ts";
import { timed } from "../audit/latencies.ts";
import type { RequestContext } from "../request-context.ts";
import { commitDelete, commitPut, encodeForStore } from "./commit.ts";
import { prepareVersions, readOnce, readVersion } from "./versions/convert.ts";
import type { DeleteOptions } from "./delete-options.ts";
import { errorKind, relativeKey } from "./resource-definition.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { ruleContext } from "./rule-context.ts";
import { modifiedError, preconditionError } from "./storage/storage-errors.ts";

export interface DeleteRequest {
  readonly context: RequestContext;
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteOptions;
  /** One of a collection: admission is not told its name. */
  readonly isOfCollection?: boolean;
  /** Called when nothing refuses it any more, before it is written. */
  readonly onAdmitted?: () => void;
}

/** `isGone`: the object left the store (or would have, in a dry run); else it stays, marked, until its finalizers or its grace are over. */
export interface Deleted {
  readonly isGone: boolean;
  readonly object: KubeObject;
  readonly stored: StoredObject | undefined;
}

const raceAttempts = 100;

/** Deletes the object or marks it as being deleted. Throws StatusError. */
export async function deleteObject(request: DeleteRequest): Promise<Deleted> {
  const { definition, context } = request;
  const key = relativeKey(definition, request.namespace, request.name);
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    const stored = definition.storage!.cache.get(key);
    if (stored === undefined) throw notFoundError(definition, request.name);
    const outcome = await deleteStored(request, stored);
    if (outcome !== "raced") return outcome;
    context.signal.throwIfAborted();
  }
  throw modifiedError(definition, request.name);
}

async function deleteStored(request: DeleteRequest, stored: StoredObject): Promise<Deleted | "raced"> {
  const { definition, options, context } = request;
  if (isUnreadable(stored.bytes)) return deleteUnreadable(request, stored);
  await prepareVersions(definition, [stored]);
  const old = readOnce(definition, stored);
  checkPreconditions(request, old);
  if (options.ignoresReadErrors && context.server.isEnabled("AllowUnsafeMalformedObjectDeletion")) throw unsafeDeletionError(request);
  await context.server.admission.validate(admissionOf(request, old));
  checkKind(request, old);
  request.onAdmitted?.();
  const plan = planDeletion(request, old, context.server.clock.nowMs());
  if (plan.kind === "remove") {
    if (options.isDryRun) return { isGone: true, object: plan.object, stored: undefined };
    const last = plan.isShortened
      ? await commitPut(context.server, definition, request, await encodeForStore(definition, plan.object), stored.revision)
      : { isCommitted: true as const, stored };
    if (!last.isCommitted) return "raced";
    const result = await timed(context, "etcd", () => commitDelete(context.server, definition, last.stored));
    if (!result.isCommitted) return "raced";
    await context.server.allocator.released(context.server, definition, old);
    return { isGone: true, object: plan.object, stored: result.stored };
  }
  if (plan.kind === "unchanged") return { isGone: false, object: old, stored };
  const encoded = await encodeForStore(definition, plan.object);
  if (options.isDryRun) return { isGone: false, object: plan.object, stored: undefined };
  const result = await timed(context, "etcd", () => commitPut(context.server, definition, request, encoded, stored.revision));
  if (!result.isCommitted) return "raced";
  await prepareVersions(definition, [result.stored]);
  return { isGone: false, object: readVersion(definition, result.stored), stored: result.stored };
}

/**
 * An object that cannot be opened goes without finalizers or grace, and only for who says that this is meant and may do it (KEP-3926).
 * Throws its own fault otherwise.
 */
async function deleteUnreadable(request: DeleteRequest, stored: StoredObject): Promise<Deleted | "raced"> {
  const { context, definition, name, namespace, options } = request;
  const { server, user } = context;
  if (!options.ignoresReadErrors || !server.isEnabled("AllowUnsafeMalformedObjectDeletion")) throw unreadableFault(stored.bytes);
  const verb = "unsafe-delete-ignore-read-errors";
  const { group, version, resource } = definition;
  const decision = await server.authorizer.authorize({ kind: "resource", user, verb, group, version, resource, subresource: "", namespace, name });
  if (decision.verdict !== "allow") throw forbiddenError(definition, name, `not permitted to do ${JSON.stringify(verb)}, reason: ${decision.reason}`);
  const object: KubeObject = { apiVersion: apiVersionOf(group, version), kind: definition.kind, metadata: { name, ...(namespace !== "" && { namespace }) } };
  if (options.isDryRun) return { isGone: true, object, stored: undefined };
  const result = await timed(context, "etcd", () => commitDelete(server, definition, stored));
  return result.isCommitted ? { isGone: true, object, stored: undefined } : "raced";
}

/** `remove` carries the object as the answer shows it. One whose grace period is cut short is written as such before it goes. */
type DeletionPlan =
  | { readonly kind: "remove"; readonly object: KubeObject; readonly isShortened: boolean }
  | { readonly kind: "unchanged" }
  | { readonly kind: "mark"; readonly object: KubeObject };

/** What a deletion does to the object as it is now. */
function planDeletion(request: DeleteRequest, old: KubeObject, nowMs: number): DeletionPlan {
  const strategy = request.definition.strategy!;
  const object = deepCopy(old);
  const { metadata } = object;
  const finalizers = strategy.delete?.ignoresPropagation === true ? (metadata.finalizers ?? []) : finalizersAfter(request, metadata.finalizers ?? []);
  if (finalizers.length === 0) delete metadata.finalizers;
  else metadata.finalizers = finalizers;
  const isHeld = strategy.delete?.holds?.(old) === true;
  const wasLeaving = metadata.deletionTimestamp !== undefined;
  const grace = strategy.delete?.gracePeriodSeconds?.(old, request.options.gracePeriodSeconds);
  if (wasLeaving) {
    if (grace !== undefined) shortenGrace(object, grace, request.options.gracePeriodSeconds, nowMs);
  } else if (grace !== undefined || finalizers.length > 0) {
    markLeaving(object, grace ?? 0, nowMs);
    if (strategy.delete?.holds !== undefined) delete metadata.deletionGracePeriodSeconds;
    strategy.delete?.mark?.(object);
  } else if (isHeld) {
    metadata.deletionTimestamp = formatTime(nowMs);
    strategy.delete?.mark?.(object);
  }
  const remaining = metadata.deletionTimestamp === undefined ? 0 : (metadata.deletionGracePeriodSeconds ?? 0);
  if (finalizers.length === 0 && remaining === 0 && !isHeld)
    return { kind: "remove", object, isShortened: wasLeaving && metadata.deletionGracePeriodSeconds !== old.metadata.deletionGracePeriodSeconds };
  return deepEqual(object, old) ? { kind: "unchanged" } : { kind: "mark", object };
}

function markLeaving(object: KubeObject, graceSeconds: number, nowMs: number): void {
  object.metadata.deletionTimestamp = formatTime(nowMs + graceSeconds * 1000);
  object.metadata.deletionGracePeriodSeconds = graceSeconds;
  if ((object.metadata.generation ?? 0) > 0) object.metadata.generation = object.metadata.generation! + 1;
}

/** A second deletion may shorten the grace period, never lengthen it. */
function shortenGrace(object: KubeObject, grace: number, requested: number | undefined, nowMs: number): void {
  const { metadata } = object;
  const existing = metadata.deletionGracePeriodSeconds ?? 0;
  if (requested === undefined || grace >= existing) return;
  const startedMs = Date.parse(metadata.deletionTimestamp!) - existing * 1000;
  metadata.deletionTimestamp = formatTime(Math.max(startedMs + grace * 1000, grace === 0 ? nowMs : 0));
  metadata.deletionGracePeriodSeconds = grace;
}

/** The garbage collector's two finalizers follow the propagation policy; all others stay. */
function finalizersAfter(request: DeleteRequest, finalizers: readonly string[]): string[] {
  const { propagationPolicy, orphanDependents } = request.options;
  if (!request.context.server.settings.hasGarbageCollector) return [...finalizers];
  const strategy = request.definition.strategy!;
  const others = finalizers.filter((name) => name !== "orphan" && name !== "foregroundDeletion");
  if (orphanDependents === true || propagationPolicy === "Orphan") return [...others, "orphan"];
  if (propagationPolicy === "Foreground") return [...others, "foregroundDeletion"];
  if (orphanDependents === false || propagationPolicy === "Background") return others;
  if (finalizers.length !== others.length) return [...finalizers];
  return strategy.delete?.defaultPropagation === "orphan" ? [...others, "orphan"] : others;
}

function checkPreconditions(request: DeleteRequest, old: KubeObject): void {
  const { preconditions } = request.options;
  const { kind, group } = errorKind(request.definition, old);
  const resource = { resource: kind, group };
  const { uid, resourceVersion } = old.metadata;
  if (request.definition.strategy!.delete?.holds !== undefined) {
    // Kinds that are deleted in two steps word it as the storage does.
    if (preconditions?.uid !== undefined && preconditions.uid !== uid)
      throw preconditionError(request.definition, request.name, "UID", preconditions.uid, uid ?? "");
    if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion)
      throw preconditionError(request.definition, request.name, "ResourceVersion", preconditions.resourceVersion, resourceVersion ?? "");
  }
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    throw conflictError(
      resource,
      request.name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflictError(
      resource,
      request.name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** An object that can be read is never deleted by the means for broken ones. */
function unsafeDeletionError({ definition, namespace, name }: DeleteRequest) {
  const key = definition.storage!.prefix + relativeKey(definition, namespace, name);
  return conflictError(
    definition,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage`,
  );
}

function checkKind(request: DeleteRequest, old: KubeObject): void {
  const { definition, context, options } = request;
  const rules = ruleContext(context, definition.isNamespaced ? request.namespace : "", "", options.isDryRun);
  const found = definition.strategy!.delete?.check?.(old, rules);
  for (const warning of found?.warnings ?? []) context.warnings.add(warning);
  if ((found?.errors ?? []).length > 0) throw invalidError(definition.strategy!.gvk, request.name, found!.errors!);
}

function admissionOf(request: DeleteRequest, old: KubeObject) {
  return {
    context: request.context,
    operation: "DELETE",
    definition: request.definition,
    subresource: "",
    namespace: request.definition.isNamespaced ? request.namespace : "",
    name: request.isOfCollection === true ? "" : request.name,
    object: undefined,
    oldObject: old,
    isDryRun: request.options.isDryRun,
  } as const;
}
