import { controllerOf, keyOf, objectKey } from "../client/index.ts";
import { parseApiVersion } from "../apimachinery/object.ts";
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Change, IndexFunction, InformerSelection, Lister, ResourceType } from "../client/index.ts";

/** A resource that a controller follows: what it needs cached, and which of its keys a change concerns. */
export interface Watch<T extends KubeObject = KubeObject> {
  readonly resource: ResourceType<T>;
  /** Keys to look at when an object was added, changed (asked for the old and the new one) or deleted. Absent: it is only cached. */
  readonly keys?: (object: DeepReadonly<T>, caches: Caches) => readonly string[];
  /** Which changes count; all when absent. */
  readonly isRelevant?: (change: Change<T>) => boolean;
  /** Wait so long before the key is looked at, to take several changes together. */
  readonly delayMs?: number;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  readonly selection?: InformerSelection;
}

/** The caches of the resources that a controller watches. */
export interface Caches {
  of<T extends KubeObject>(resource: ResourceType<T>): Lister<T>;
}

/** A watch with its types checked. */
export function watch<T extends KubeObject>(resource: ResourceType<T>, options: Omit<Watch<T>, "resource"> = {}): Watch {
  return { resource, ...options } as unknown as Watch;
}

/** The object's own key. */
export function ownKey(object: DeepReadonly<KubeObject>): readonly string[] {
  return [keyOf(object)];
}

/** The key of the owner that manages an object, if that is of `owner`'s kind (any version of it). */
export function controllerKey(owner: ResourceType): (object: DeepReadonly<KubeObject>) => readonly string[] {
  return (object) => {
    const reference = controllerOf(object);
    if (reference === undefined || reference.kind !== owner.kind || parseApiVersion(reference.apiVersion)?.group !== owner.group) return [];
    return [objectKey(owner.isNamespaced ? (object.metadata.namespace ?? "") : "", reference.name)];
  };
}

/** The namespace of an object, for controllers whose keys are namespaces. */
export function namespaceKey(object: DeepReadonly<KubeObject>): readonly string[] {
  return [object.metadata.namespace ?? ""];
}

/** For an index by the uid of the managing owner. */
export function byControllerUid(object: DeepReadonly<KubeObject>): readonly string[] {
  const owner = controllerOf(object);
  return owner === undefined ? [] : [owner.uid];
}
