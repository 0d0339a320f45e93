import { deepCopy, deepEqual } from "../../apimachinery/json.ts";
import { edited, referenceTo, resources } from "../../client/index.ts";
import { createAction, eventAction, nothingToDo, patchAction, updateStatusAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { claimMadeFor, isPodDone, podClaimAnnotation } from "./pod-claims.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, PodResourceClaim, PodResourceClaimStatus } from "../../api/core-v1/types.ts";
import type { ResourceClaim, ResourceClaimTemplate } from "../../api/resource-v1/types.ts";
import type { Action, Outcome, Plan } from "../../operator/index.ts";

/**
 * A pod gets a claim for every template it names, and its status tells which; one that came to a node past the scheduler is noted as a
 * user of the claims that are allocated (documentation page "Dynamic Resource Allocation").
 */
export function planPod({ pod, claims, templates }: PodSnapshot): Plan {
  if (isPodDone(pod) || pod.metadata.deletionTimestamp !== undefined) return nothingToDo;
  const wanted = (pod.spec?.resourceClaims ?? []).filter(({ resourceClaimTemplateName }) => resourceClaimTemplateName !== undefined);
  const missing = wanted.filter((entry) => claimMadeFor(pod, entry, claims) === undefined);
  return {
    actions: missing.map((entry) => claimFor(pod, entry, templates)),
    next: (outcome) => ({ actions: [...told(pod, wanted, [...claims, ...created(outcome)]), ...reservations(pod, claims)] }),
  };
}

export interface PodSnapshot {
  readonly pod: DeepReadonly<Pod>;
  /** All of the pod's namespace that it owns or names. */
  readonly claims: readonly DeepReadonly<ResourceClaim>[];
  /** Those the pod names, by name. */
  readonly templates: ReadonlyMap<string, DeepReadonly<ResourceClaimTemplate>>;
}

function claimFor(pod: DeepReadonly<Pod>, entry: DeepReadonly<PodResourceClaim>, templates: PodSnapshot["templates"]): Action {
  const templateName = entry.resourceClaimTemplateName ?? "";
  const template = templates.get(templateName);
  const fail = (fault: string) =>
    eventAction(referenceTo(resources.pods, pod), {
      type: "Warning",
      reason: "FailedResourceClaimCreation",
      message: `PodResourceClaim ${entry.name}: ${fault}`,
    });
  if (template === undefined) return fail(`resource claim template "${templateName}": resourceclaimtemplate.resource.k8s.io "${templateName}" not found`);
  const { labels, annotations } = template.spec?.metadata ?? {};
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  const claim: ResourceClaim = {
    metadata: {
      generateName: `${`${name}-${entry.name}`.slice(0, longestBase)}-`,
      namespace,
      ...(labels !== undefined && { labels: { ...labels } }),
      annotations: { ...annotations, [podClaimAnnotation]: entry.name },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid, controller: true }],
    },
    spec: deepCopy(template.spec?.spec ?? {}) as NonNullable<ResourceClaim["spec"]>,
  };
  return createAction(resources.resourceClaims, claim, { onError: (error) => ({ severity: "continue", actions: [fail(error.message)] }) });
}

/** So that a hyphen and five random characters still fit a label. */
const longestBase = 57;

function created({ results }: Outcome): DeepReadonly<ResourceClaim>[] {
  return results.flatMap((result) => (result.action.kind === "create" && result.status === "done" ? [result.object as DeepReadonly<ResourceClaim>] : []));
}

function told(pod: DeepReadonly<Pod>, wanted: readonly DeepReadonly<PodResourceClaim>[], claims: readonly DeepReadonly<ResourceClaim>[]): Action[] {
  const statuses = wanted.flatMap((entry): PodResourceClaimStatus[] => {
    const name = claimMadeFor(pod, entry, claims)?.metadata.name;
    return name === undefined ? [] : [{ name: entry.name, resourceClaimName: name }];
  });
  if (deepEqual(statuses, pod.status?.resourceClaimStatuses ?? [])) return [];
  const body = { metadata: { uid: pod.metadata.uid }, status: { resourceClaimStatuses: statuses } };
  return [patchAction(resources.pods, pod, { type: "strategic", body }, { subresource: "status", onError: whenGone })];
}

function reservations(pod: DeepReadonly<Pod>, claims: readonly DeepReadonly<ResourceClaim>[]): Action[] {
  if ((pod.spec?.nodeName ?? "") === "") return [];
  const { name = "", uid = "" } = pod.metadata;
  return claims
    .filter(({ status }) => status?.allocation !== undefined && status.reservedFor?.some((user) => user.uid === uid) !== true)
    .map((claim) => {
      const updated = edited<ResourceClaim>(claim, (draft) => {
        draft.status = { ...draft.status, reservedFor: [...(draft.status?.reservedFor ?? []), { resource: "pods", name, uid }] };
      });
      return updateStatusAction(resources.resourceClaims, updated);
    });
}
