import { matchesLabels } from "../../apimachinery/selectors/label-selector.ts";
import { controllerOf, keyOf } from "../../client/index.ts";
import { controllerKey } from "../../operator/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { LabelSelector } from "../../apimachinery/selectors/label-selector.ts";
import type { ResourceType } from "../../client/index.ts";
import type { Caches } from "../../operator/index.ts";

/** Keys of the owners that an object concerns: its managing owner, or, for an object without one, every owner whose selector matches it. */
export function ownerKeys<Owner extends KubeObject>(
  owner: ResourceType<Owner>,
  selectorOf: (owner: DeepReadonly<Owner>) => LabelSelector,
): (object: DeepReadonly<KubeObject>, caches: Caches) => readonly string[] {
  const managerKey = controllerKey(owner);
  return (object, caches) => {
    if (controllerOf(object) !== undefined) return managerKey(object);
    const owners = caches.of(owner).list(object.metadata.namespace ?? "");
    return owners.filter((candidate) => matchesLabels(selectorOf(candidate), object.metadata.labels)).map(keyOf);
  };
}
