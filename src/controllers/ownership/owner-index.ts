import { controllerOf } from "../../client/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Lister } from "../../client/index.ts";

/** Objects by the uid of their managing owner; those without one by namespace. Declared by every watch that looks for candidates. */
export const ownerIndex = { owner: (object: DeepReadonly<KubeObject>) => [controllerOf(object)?.uid ?? orphanKey(object.metadata.namespace ?? "")] };

/** What may belong to an owner: all that name it, and all of its namespace that have no managing owner. */
export function claimCandidates<T extends KubeObject>(lister: Lister<T>, owner: DeepReadonly<KubeObject>): readonly DeepReadonly<T>[] {
  return [...lister.byIndex("owner", owner.metadata.uid ?? ""), ...lister.byIndex("owner", orphanKey(owner.metadata.namespace ?? ""))];
}

/** What names an owner as its manager. */
export function ownedBy<T extends KubeObject>(lister: Lister<T>, owner: DeepReadonly<KubeObject>): readonly DeepReadonly<T>[] {
  return lister.byIndex("owner", owner.metadata.uid ?? "");
}

function orphanKey(namespace: string): string {
  return `orphans of ${namespace}`;
}
