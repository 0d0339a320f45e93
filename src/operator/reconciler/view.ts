/** What a plan sees: its object's children, and whatever else the reconciler watches, as the caches have it at this moment. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { controllerOf } from "../../client/index.ts";
import type { ResourceType } from "../../client/index.ts";
import { byControllerUid } from "../watch.ts";
import type { Caches } from "../watch.ts";

/** The objects that a plan may read: those of its kinds, as the caches held them at one moment. */
export interface View {
  /** Children of the object: those of a kind it owns whose managing owner it is. */
  children<C extends KubeObject>(resource: ResourceType<C>): readonly DeepReadonly<C>[];
  /** A child by its name; undefined also when an object of that name is not the object's child. */
  child<C extends KubeObject>(resource: ResourceType<C>, name: string): DeepReadonly<C> | undefined;
  /** Any object of a watched or owned kind. `namespace` is `""` for cluster-scoped ones. */
  get<C extends KubeObject>(resource: ResourceType<C>, namespace: string, name: string): DeepReadonly<C> | undefined;
  /** All of a watched or owned kind, in a namespace or (absent) everywhere. */
  list<C extends KubeObject>(resource: ResourceType<C>, namespace?: string): readonly DeepReadonly<C>[];
}

/** The index that every owned kind has. */
export const childIndex = { children: byControllerUid } as const;

/** A view into the caches of a controller. Throws when asked for a kind that is neither owned nor watched. */
export function cacheView(caches: Caches, owner: DeepReadonly<KubeObject>): View {
  const uid = owner.metadata.uid ?? "";
  return {
    children: (resource) => caches.of(resource).byIndex("children", uid),
    child(resource, name) {
      const found = caches.of(resource).get(resource.isNamespaced ? (owner.metadata.namespace ?? "") : "", name);
      return found !== undefined && controllerOf(found)?.uid === uid ? found : undefined;
    },
    get: (resource, namespace, name) => caches.of(resource).get(namespace, name),
    list: (resource, namespace = "") => caches.of(resource).list(namespace),
  };
}

/** A view of plain objects, for tests of plans: kinds are told by `kind` and `apiVersion`. */
export function viewOf(owner: DeepReadonly<KubeObject>, objects: readonly DeepReadonly<KubeObject>[]): View {
  const uid = owner.metadata.uid ?? "";
  const ofKind = <C extends KubeObject>({ group, version, kind }: ResourceType<C>) =>
    objects.filter((object) => object.kind === kind && object.apiVersion === apiVersionOf(group, version)) as unknown as readonly DeepReadonly<C>[];
  const isChild = (object: DeepReadonly<KubeObject>) => controllerOf(object)?.uid === uid;
  return {
    children: (resource) => ofKind(resource).filter((object) => isChild(object as DeepReadonly<KubeObject>)),
    child: (resource, name) => ofKind(resource).find((object) => object.metadata.name === name && isChild(object as DeepReadonly<KubeObject>)),
    get: (resource, namespace, name) => ofKind(resource).find(({ metadata }) => metadata.name === name && (metadata.namespace ?? "") === namespace),
    list: (resource, namespace = "") => ofKind(resource).filter(({ metadata }) => namespace === "" || metadata.namespace === namespace),
  };
}
