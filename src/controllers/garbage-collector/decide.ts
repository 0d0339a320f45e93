import { foregroundFinalizer, orphanFinalizer } from "./graph.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ObjectMeta, OwnerReference } from "../../apimachinery/object.ts";

/**
 * What has to happen to an object, given what its owners turned out to be (documentation page "Garbage Collection"): it stays while one
 * owner is alive, and then only loses its references to others; it goes with the last one.
 */
export function decideCollection({ metadata, owners, dependents }: CollectionSnapshot): CollectionDecision {
  if (owners.length === 0) return { kind: "keep" };
  const alive = owners.filter(({ state }) => state === "alive");
  const gone = owners.filter(({ state }) => state !== "alive");
  if (alive.length > 0) {
    if (gone.length === 0) return { kind: "keep" };
    const uids = new Set(gone.map(({ reference }) => reference.uid));
    return { kind: "dropOwners", kept: (metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid)) };
  }
  if (owners.some(({ state }) => state === "waiting") && dependents.count > 0) {
    // A circle of owners that all wait for each other must be broken somewhere.
    return { kind: "delete", policy: "Foreground", unblocks: dependents.isDeleting };
  }
  const finalizers = metadata.finalizers ?? [];
  const policy = finalizers.includes(orphanFinalizer) ? "Orphan" : finalizers.includes(foregroundFinalizer) ? "Foreground" : "Background";
  return { kind: "delete", policy, unblocks: false };
}

export interface CollectionSnapshot {
  /** As the server has it now. */
  readonly metadata: DeepReadonly<ObjectMeta>;
  readonly owners: readonly OwnerFinding[];
  readonly dependents: { readonly count: number; readonly isDeleting: boolean };
}
export interface OwnerFinding {
  readonly reference: DeepReadonly<OwnerReference>;
  readonly state: OwnerState;
}
/**
 * - alive: the owner is there
 * - absent: there is no such object, or another one has its name
 * - waiting: the owner is in foreground deletion and waits for what blocks it
 */
export type OwnerState = "alive" | "absent" | "waiting";

export type CollectionDecision =
  | { readonly kind: "keep" }
  | { readonly kind: "dropOwners"; readonly kept: readonly DeepReadonly<OwnerReference>[] }
  | { readonly kind: "delete"; readonly policy: "Orphan" | "Foreground" | "Background"; readonly unblocks: boolean };
