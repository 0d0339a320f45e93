/**
 * From children that should be to the writes that make them so: server-side apply of what differs, deletion of what is not wanted.
 * State: what this process applied last, by owner and child, so that unchanged children cost no request; it forgets an owner that is gone.
 */
import { deepEqual, isObject } from "../../apimachinery/json.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { controllerOf, controllerReference, objectKey, resourceLabel } from "../../client/index.ts";
import type { ResourceType } from "../../client/index.ts";
import { deleteAction, patchAction } from "../plan.ts";
import type { Action } from "../plan.ts";
import type { Child } from "./desired.ts";
import type { View } from "./view.ts";

/** A child's name is taken by an object that belongs to somebody else. */
export class ChildConflictError extends Error {
  override name = "ChildConflictError";
  readonly reason = "ChildConflict";
}

export interface ApplyContext {
  readonly owner: { readonly resource: ResourceType; readonly object: DeepReadonly<KubeObject> };
  readonly fieldManager: string;
  readonly view: View;
}

interface Applied {
  /** The object as it was sent. */
  readonly desired: DeepReadonly<KubeObject>;
  /** Of the server's answer. */
  readonly resourceVersion: string;
}

export class AppliedMemory {
  readonly #byOwner = new Map<string, Map<string, Applied>>();

  forget(ownerKey: string): void {
    this.#byOwner.delete(ownerKey);
  }

  /**
   * The apply of one object as an action; none when the server has it already. `subresource` `status` applies a status; `isGuarded`: it is
   * refused when the object is not `live` any more.
   */
  apply(
    ownerKey: string,
    { resource, object }: Child,
    live: DeepReadonly<KubeObject> | undefined,
    how: { fieldManager: string; subresource?: string; isGuarded?: boolean },
  ): Action[] {
    const known = this.#ofOwner(ownerKey);
    const key = `${resourceLabel(resource)} ${objectKey(object.metadata.namespace ?? "", object.metadata.name ?? "")} ${how.subresource ?? ""}`;
    const last = known.get(key);
    const isSameAsLast = last !== undefined && deepEqual(last.desired, object);
    if (live !== undefined && isSameAsLast && (live.metadata.resourceVersion === last.resourceVersion || covers(live, content(object)))) return [];
    const remember = (answer: DeepReadonly<KubeObject>) => {
      known.set(key, { desired: object, resourceVersion: answer.metadata.resourceVersion ?? "" });
      return [];
    };
    const { fieldManager, subresource, isGuarded } = how;
    const guard = isGuarded === true && live?.metadata.resourceVersion !== undefined ? { resourceVersion: live.metadata.resourceVersion } : {};
    return [
      patchAction(
        resource,
        object,
        { type: "apply", body: { ...object, metadata: { ...object.metadata, ...guard } }, isForced: true, fieldManager },
        { onDone: remember, ...(subresource !== undefined && { subresource }) },
      ),
    ];
  }

  drop(ownerKey: string, resource: ResourceType, { metadata }: DeepReadonly<KubeObject>): void {
    this.#ofOwner(ownerKey).delete(`${resourceLabel(resource)} ${objectKey(metadata.namespace ?? "", metadata.name ?? "")} `);
  }

  #ofOwner(ownerKey: string): Map<string, Applied> {
    let known = this.#byOwner.get(ownerKey);
    if (known === undefined) this.#byOwner.set(ownerKey, (known = new Map()));
    return known;
  }
}

/** The writes that make the children as they should be. Throws ChildConflictError, and a TypeError for children that cannot be owned. */
export function applyChildren(wanted: readonly Child[], owned: readonly ResourceType[], context: ApplyContext, memory: AppliedMemory): Action[] {
  const { owner, view, fieldManager } = context;
  const ownerKey = objectKey(owner.object.metadata.namespace ?? "", owner.object.metadata.name ?? "");
  const named = new Set<string>();
  const actions: Action[] = [];
  for (const given of wanted) {
    const complete = ownedChild(given, owned, context);
    const { namespace = "", name = "" } = complete.object.metadata;
    named.add(`${resourceLabel(complete.resource)} ${name}`);
    const live = view.get(complete.resource, namespace, name);
    if (live !== undefined && controllerOf(live)?.uid !== owner.object.metadata.uid) {
      throw new ChildConflictError(
        `${complete.resource.kind} ${objectKey(namespace, name)} exists and is not a child of ${owner.resource.kind} ${ownerKey}: delete it, or name the child differently`,
      );
    }
    // One that is going away is made anew when it is gone.
    if (live?.metadata.deletionTimestamp === undefined) actions.push(...memory.apply(ownerKey, complete, live, { fieldManager }));
  }
  for (const resource of owned) {
    for (const live of view.children(resource)) {
      if (named.has(`${resourceLabel(resource)} ${live.metadata.name}`) || live.metadata.deletionTimestamp !== undefined) continue;
      memory.drop(ownerKey, resource, live);
      actions.push(
        deleteAction(resource, live, { propagationPolicy: "Background" }, { onError: (error) => ({ severity: isGone(error) ? "ignore" : "continue" }) }),
      );
    }
  }
  return actions;
}

function ownedChild({ resource, object }: Child, owned: readonly ResourceType[], { owner }: ApplyContext): Child {
  const label = resourceLabel(resource);
  if (!owned.some((known) => resourceLabel(known) === label))
    throw new TypeError(`${label} is not among the kinds that the reconciler owns: add it to \`owns\``);
  const { namespace } = owner.object.metadata;
  if (!resource.isNamespaced && namespace !== undefined)
    throw new TypeError(`${label} is cluster-scoped and cannot be a child of ${owner.resource.kind}, which has a namespace`);
  if (resource.isNamespaced && object.metadata.namespace !== undefined && namespace !== undefined && object.metadata.namespace !== namespace) {
    throw new TypeError(
      `a child lives in the namespace of its owner: ${label} ${objectKey(object.metadata.namespace, object.metadata.name ?? "")} cannot be a child of one in ${namespace}`,
    );
  }
  const metadata = {
    ...object.metadata,
    ...(resource.isNamespaced && { namespace: object.metadata.namespace ?? namespace ?? "" }),
    ownerReferences: [controllerReference(owner.resource, owner.object)],
  };
  return { resource, object: { ...object, metadata } };
}

/** Objects in lists of the server name neither kind nor version. */
function content({ apiVersion: _apiVersion, kind: _kind, ...rest }: DeepReadonly<KubeObject>): object {
  return rest;
}

function isGone(error: Error): boolean {
  return "reason" in error && (error.reason === "NotFound" || error.reason === "Conflict");
}

/** Whether `live` has everything that `wanted` says: members may be more, lists must be as long. */
export function covers(live: unknown, wanted: unknown): boolean {
  const pending: [unknown, unknown][] = [[live, wanted]];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [have, want] = pair;
    if (Array.isArray(want)) {
      if (!Array.isArray(have) || have.length !== want.length) return false;
      for (const [index, item] of want.entries()) pending.push([have[index], item]);
    } else if (isObject(want)) {
      if (!isObject(have)) return false;
      for (const [member, value] of Object.entries(want)) if (value !== undefined) pending.push([have[member], value]);
    } else if (have !== want) return false;
  }
  return true;
}
