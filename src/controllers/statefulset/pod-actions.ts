import { deepEqual } from "../../apimachinery/json.ts";
import { isAlreadyExists } from "../../apimachinery/status.ts";
import { edited, isNamespaceTerminating, referenceTo, resources } from "../../client/index.ts";
import { createAction, deleteAction, eventAction, updateAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { claimOwners, ordinalClaims, ordinalOf, repairedPod } from "./identity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { StatefulSet } from "../../api/apps-v1/types.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/core-v1/types.ts";
import type { Action, ErrorDecision } from "../../operator/index.ts";

type Claims = ReadonlyMap<string, DeepReadonly<PersistentVolumeClaim>>;

/** Makes what a pod needs, and then the pod. */
export function createOrdinal(set: DeepReadonly<StatefulSet>, pod: Pod, claims: Claims): Action[] {
  const name = pod.metadata.name ?? "";
  const creation = createAction(resources.pods, pod, {
    onDone: () => [told(set, "Normal", "SuccessfulCreate", `Create Pod ${name} in StatefulSet ${set.metadata.name} successful`)],
    onError: (error) => whenCreationFails(set, `Pod ${name} in StatefulSet ${set.metadata.name}`, error),
  });
  return [...missingClaims(set, pod, claims), creation];
}

export function deleteOrdinal(set: DeepReadonly<StatefulSet>, pod: DeepReadonly<Pod>): Action {
  const title = `Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
  return deleteAction(
    resources.pods,
    pod,
    {},
    {
      onDone: () => [told(set, "Normal", "SuccessfulDelete", `Delete ${title} successful`)],
      onError: (error) => {
        const decision = whenGone(error);
        if (decision.severity === "ignore") return decision;
        return { ...decision, actions: [told(set, "Warning", "FailedDelete", `Delete ${title} failed error: ${error.message}`)] };
      },
    },
  );
}

/** Gives a pod its identity and its claims back, where somebody took them. */
export function repairOrdinal(set: DeepReadonly<StatefulSet>, pod: DeepReadonly<Pod>, claims: Claims): Action[] {
  const repaired = repairedPod(set, pod);
  const title = `Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
  const update =
    repaired === undefined
      ? []
      : [updateAction(resources.pods, repaired, { onDone: () => [told(set, "Normal", "SuccessfulUpdate", `Update ${title} successful`)], onError: whenGone })];
  return [...missingClaims(set, pod, claims), ...reownedClaims(set, pod, claims), ...update];
}

/** Makes the claims of a pod that are not there. */
export function missingClaims(set: DeepReadonly<StatefulSet>, pod: DeepReadonly<Pod>, claims: Claims): Action[] {
  return ordinalClaims(set, ordinalOf(set, pod))
    .filter(({ metadata }) => !claims.has(metadata.name ?? ""))
    .map((claim) => {
      const owners = claimOwners(set, undefined, []);
      const title = `Claim ${claim.metadata.name} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
      const wanted = owners.length === 0 ? claim : { ...claim, metadata: { ...claim.metadata, ownerReferences: owners } };
      return createAction(resources.persistentVolumeClaims, wanted, {
        onDone: () => [told(set, "Normal", "SuccessfulCreate", `Create ${title} success`)],
        onError: (error) => (isAlreadyExists(error) ? { severity: "ignore" } : whenCreationFails(set, title, error)),
      });
    });
}

/** Writes the owners of a pod's claims as the retention policy asks. */
export function reownedClaims(set: DeepReadonly<StatefulSet>, pod: DeepReadonly<Pod>, claims: Claims): Action[] {
  const actions: Action[] = [];
  for (const { metadata } of ordinalClaims(set, ordinalOf(set, pod))) {
    const claim = claims.get(metadata.name ?? "");
    if (claim === undefined) continue;
    const owners = claimOwners(set, pod, claim.metadata.ownerReferences ?? []);
    if (deepEqual(owners, claim.metadata.ownerReferences ?? [])) continue;
    const updated = edited<PersistentVolumeClaim>(claim, (draft) => {
      draft.metadata.ownerReferences = owners;
    });
    actions.push(updateAction(resources.persistentVolumeClaims, updated, { onError: whenGone }));
  }
  return actions;
}

function whenCreationFails(set: DeepReadonly<StatefulSet>, title: string, error: Error): ErrorDecision {
  if (isNamespaceTerminating(error)) return { severity: "ignore" };
  if (isAlreadyExists(error)) return { severity: "continue" };
  return { severity: "continue", actions: [told(set, "Warning", "FailedCreate", `Create ${title} failed error: ${error.message}`)] };
}

function told(set: DeepReadonly<StatefulSet>, type: "Normal" | "Warning", reason: string, message: string): Action {
  return eventAction(referenceTo(resources.statefulSets, set), { type, reason, message });
}
