import { apiVersionOf } from "../../apimachinery/object.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts";
import type { ResourceType } from "../resource-type.ts";

/** core/v1 ObjectReference, as events name what they speak of. */
export interface ObjectReference {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** A reference to an object; `fieldPath` names a part of it, such as `spec.containers{web}`. */
export function referenceTo(resource: ResourceType, object: DeepReadonly<KubeObject>, fieldPath?: string): ObjectReference {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return {
    kind: resource.kind,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(uid !== undefined && { uid }),
    apiVersion: apiVersionOf(resource.group, resource.version),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(fieldPath !== undefined && { fieldPath }),
  };
}

/** The owner reference by which a controller marks what it made. */
export function controllerReference(resource: ResourceType, owner: DeepReadonly<KubeObject>): OwnerReference {
  return {
    apiVersion: apiVersionOf(resource.group, resource.version),
    kind: resource.kind,
    name: owner.metadata.name ?? "",
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** The owner that manages an object, or undefined. */
export function controllerOf(object: DeepReadonly<KubeObject>): DeepReadonly<OwnerReference> | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}
