import { deepCopy, deepEqual } from "../../apimachinery/json.ts";
import { edited, referenceTo, resources } from "../../client/index.ts";
import { createAction, eventAction, nothingToDo, patchAction, updateStatusAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { claimMadeFor, groupEntryFor, isPodDone, podClaimAnnotation } from "./pod-claims.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Pod, PodResourceClaim, PodResourceClaimStatus } from "../../api/core-v1/types.ts";
import type { ResourceClaim, ResourceClaimTemplate } from "../../api/resource-v1/types.ts";
import type { PodGroup, PodGroupResourceClaim } from "../../api/scheduling-v1beta1/types.ts";
import type { ObjectReference, ResourceType } from "../../client/index.ts";
import type { Action, Outcome, Plan } from "../../operator/index.ts";

/**
 * A pod gets a claim for every template it names, and its status tells which; one that came to a node past the scheduler is noted as a
 * user of the claims that are allocated (documentation page "Dynamic Resource Allocation").
 */
export function planPod({ pod, claims, templates, group }: PodSnapshot): Plan {
  if (isPodDone(pod) || pod.metadata.deletionTimestamp !== undefined) return nothingToDo;
  const wanted = (pod.spec?.resourceClaims ?? []).filter(({ resourceClaimTemplateName }) => resourceClaimTemplateName !== undefined);
  const isShared = (entry: DeepReadonly<PodResourceClaim>) => groupEntryFor(group, entry) !== undefined;
  const missing = wanted.filter((entry) => !isShared(entry) && claimMadeFor(pod, entry, claims) === undefined);
  const nameOf = (entry: DeepReadonly<PodResourceClaim>, all: readonly DeepReadonly<ResourceClaim>[]) =>
    isShared(entry)
      ? group!.status?.resourceClaimStatuses?.find(({ name }) => name === entry.name)?.resourceClaimName
      : claimMadeFor(pod, entry, all)?.metadata.name;
  return {
    actions: missing.map((entry) => claimFor({ object: pod, reference: referenceTo(resources.pods, pod) }, entry, templates)),
    next: (outcome) => {
      const all = [...claims, ...created(outcome)];
      const statuses = statusesOf(wanted, (entry) => nameOf(entry, all));
      return { actions: [...told(resources.pods, pod, statuses), ...reservations(pod, group, claims)] };
    },
  };
}

/** A group gets a claim for every template it names, which all of its pods share; its status tells which (KEP-5729). */
export function planGroup({ group, claims, templates }: GroupSnapshot): Plan {
  if (group.metadata.deletionTimestamp !== undefined) return nothingToDo;
  const wanted = (group.spec?.resourceClaims ?? []).filter(({ resourceClaimTemplateName }) => resourceClaimTemplateName !== undefined);
  const missing = wanted.filter((entry) => claimMadeFor(group, entry, claims) === undefined);
  return {
    actions: missing.map((entry) => claimFor({ object: group, reference: referenceTo(resources.podGroups, group) }, entry, templates)),
    next: (outcome) => {
      const all = [...claims, ...created(outcome)];
      return {
        actions: told(
          resources.podGroups,
          group,
          statusesOf(wanted, (entry) => claimMadeFor(group, entry, all)?.metadata.name),
        ),
      };
    },
  };
}

export interface PodSnapshot {
  readonly pod: DeepReadonly<Pod>;
  /** All of the pod's namespace that it owns or names. */
  readonly claims: readonly DeepReadonly<ResourceClaim>[];
  /** Those the pod names, by name. */
  readonly templates: ReadonlyMap<string, DeepReadonly<ResourceClaimTemplate>>;
  /** The pod's, where groups have claims. */
  readonly group?: DeepReadonly<PodGroup> | undefined;
}

export interface GroupSnapshot {
  readonly group: DeepReadonly<PodGroup>;
  /** Those it owns. */
  readonly claims: readonly DeepReadonly<ResourceClaim>[];
  readonly templates: PodSnapshot["templates"];
}

/** For whom a claim is made. */
interface ClaimOwner {
  readonly object: DeepReadonly<KubeObject>;
  readonly reference: ObjectReference;
}

type ClaimEntry = DeepReadonly<PodResourceClaim | PodGroupResourceClaim>;

function claimFor({ object, reference }: ClaimOwner, entry: ClaimEntry, templates: PodSnapshot["templates"]): Action {
  const templateName = entry.resourceClaimTemplateName ?? "";
  const template = templates.get(templateName);
  const fail = (fault: string) =>
    eventAction(reference, {
      type: "Warning",
      reason: "FailedResourceClaimCreation",
      message: `${reference.kind}ResourceClaim ${entry.name}: ${fault}`,
    });
  if (template === undefined) return fail(`resource claim template "${templateName}": resourceclaimtemplate.resource.k8s.io "${templateName}" not found`);
  const { labels, annotations } = template.spec?.metadata ?? {};
  const { name = "", namespace = "", uid = "" } = object.metadata;
  const claim: ResourceClaim = {
    metadata: {
      generateName: `${`${name}-${entry.name}`.slice(0, longestBase)}-`,
      namespace,
      ...(labels !== undefined && { labels: { ...labels } }),
      annotations: { ...annotations, [podClaimAnnotation]: entry.name ?? "" },
      ownerReferences: [{ apiVersion: reference.apiVersion ?? "", kind: reference.kind ?? "", name, uid, controller: true }],
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

function statusesOf<Entry extends ClaimEntry>(wanted: readonly Entry[], nameOf: (entry: Entry) => string | undefined): PodResourceClaimStatus[] {
  return wanted.flatMap((entry) => {
    const resourceClaimName = nameOf(entry);
    return resourceClaimName === undefined ? [] : [{ name: entry.name ?? "", resourceClaimName }];
  });
}

function told<T extends DeepReadonly<Pod> | DeepReadonly<PodGroup>>(resource: ResourceType, object: T, statuses: readonly PodResourceClaimStatus[]): Action[] {
  if (deepEqual(statuses, object.status?.resourceClaimStatuses ?? [])) return [];
  const body = { metadata: { uid: object.metadata.uid }, status: { resourceClaimStatuses: statuses } };
  return [patchAction(resource, object as DeepReadonly<KubeObject>, { type: "strategic", body }, { subresource: "status", onError: whenGone })];
}

/** What the group uses is the scheduler's to note. */
function reservations(pod: DeepReadonly<Pod>, group: DeepReadonly<PodGroup> | undefined, claims: readonly DeepReadonly<ResourceClaim>[]): Action[] {
  if ((pod.spec?.nodeName ?? "") === "") return [];
  const { name = "", uid = "" } = pod.metadata;
  const shared = new Set(
    group === undefined ? [] : [...(group.spec?.resourceClaims ?? []), ...(group.status?.resourceClaimStatuses ?? [])].map((one) => one.resourceClaimName),
  );
  return claims
    .filter(({ metadata }) => !shared.has(metadata.name))
    .filter(({ status }) => status?.allocation !== undefined && status.reservedFor?.some((user) => user.uid === uid) !== true)
    .map((claim) => {
      const updated = edited<ResourceClaim>(claim, (draft) => {
        draft.status = { ...draft.status, reservedFor: [...(draft.status?.reservedFor ?? []), { resource: "pods", name, uid }] };
      });
      return updateStatusAction(resources.resourceClaims, updated);
    });
}
