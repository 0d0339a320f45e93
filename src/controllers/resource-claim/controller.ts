import { controllerOf, resources, splitKey } from "../../client/index.ts";
import { defineController, watch } from "../../operator/index.ts";
import { planClaim } from "./claim-plan.ts";
import { claimKey, claimNamesOf, groupKey, isPodDone, podKey } from "./pod-claims.ts";
import { planGroup, planPod } from "./pod-plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { ResourceClaim, ResourceClaimTemplate } from "../../api/resource-v1/types.ts";
import type { PodGroup } from "../../api/scheduling-v1beta1/types.ts";
import type { Caches, Controller } from "../../operator/index.ts";
import type { ClaimSnapshot } from "./claim-plan.ts";
import type { GroupSnapshot, PodSnapshot } from "./pod-plan.ts";

/** Makes the ResourceClaims of pods and keeps account of who uses them. Keys are pods and claims. */
export function resourceClaimController({ workers = 10, hasGroups = false }: ResourceClaimOptions = {}): Controller {
  return defineController<PodSnapshot | GroupSnapshot | ClaimSnapshot>({
    name: "resourceclaim-controller",
    account: "resource-claim-controller",
    eventSource: "resource_claim",
    workers,
    watches: [
      watch(resources.pods, {
        keys: keysOfPod,
        isRelevant: ({ object }) => (object.spec?.resourceClaims ?? []).length > 0,
        indexes: { template: templatesOf, resourceClaim: claimsOfPod, podGroup: groupsOfPod },
      }),
      ...(hasGroups ? [watch(resources.podGroups, { keys: keysOfGroup, indexes: { template: templatesOf } })] : []),
      watch(resources.resourceClaims, {
        keys: (claim, caches) => [...keysOfClaim(claim, caches), ...(hasGroups ? groupOfClaim(claim) : [])],
        indexes: { owner: ownersOf },
      }),
      watch(resources.resourceClaimTemplates, { keys: (template, caches) => keysOfTemplate(template, caches, hasGroups) }),
    ],
    snapshot(key, caches) {
      const [kind = "", place = ""] = key.split(":");
      const { namespace, name } = splitKey(place);
      if (kind === "group") return groupSnapshot(namespace, name, caches);
      return kind === "pod" ? podSnapshot(namespace, name, { caches, hasGroups }) : claimSnapshot(namespace, name, { caches, hasGroups });
    },
    plan: (snapshot) => ("pod" in snapshot ? planPod(snapshot) : "group" in snapshot ? planGroup(snapshot) : planClaim(snapshot)),
  });
}

export interface ResourceClaimOptions {
  readonly workers?: number;
  /** Groups of pods have claims of their own (gate DRAWorkloadResourceClaims). */
  readonly hasGroups?: boolean;
}

interface Sources {
  readonly caches: Caches;
  readonly hasGroups: boolean;
}

function podSnapshot(namespace: string, name: string, { caches, hasGroups }: Sources): PodSnapshot | undefined {
  const pod = caches.of(resources.pods).get(namespace, name);
  if (pod === undefined) return undefined;
  const all = caches.of(resources.resourceClaims);
  const named = claimNamesOf(pod).flatMap((claimName) => all.get(namespace, claimName) ?? []);
  const templates = templatesFor(pod, caches);
  const groupName = hasGroups ? pod.spec?.schedulingGroup?.podGroupName : undefined;
  const group = groupName === undefined ? undefined : caches.of(resources.podGroups).get(namespace, groupName);
  // Before its group is there nobody knows which claims it shares.
  if (groupName !== undefined && group === undefined) return undefined;
  return { pod, claims: [...new Set([...named, ...all.byIndex("owner", pod.metadata.uid ?? "")])], templates, group };
}

function groupSnapshot(namespace: string, name: string, caches: Caches): GroupSnapshot | undefined {
  const group = caches.of(resources.podGroups).get(namespace, name);
  return group && { group, claims: caches.of(resources.resourceClaims).byIndex("owner", group.metadata.uid ?? ""), templates: templatesFor(group, caches) };
}

function templatesFor({ metadata, spec }: ClaimedFor, caches: Caches): ReadonlyMap<string, DeepReadonly<ResourceClaimTemplate>> {
  const templates = new Map<string, DeepReadonly<ResourceClaimTemplate>>();
  for (const { resourceClaimTemplateName = "" } of spec?.resourceClaims ?? []) {
    const template = caches.of(resources.resourceClaimTemplates).get(metadata.namespace ?? "", resourceClaimTemplateName);
    if (template !== undefined) templates.set(resourceClaimTemplateName, template);
  }
  return templates;
}

function claimSnapshot(namespace: string, name: string, { caches, hasGroups }: Sources): ClaimSnapshot | undefined {
  const claim = caches.of(resources.resourceClaims).get(namespace, name);
  if (claim === undefined) return undefined;
  const podOf = (podName: string) => caches.of(resources.pods).get(namespace, podName);
  if (!hasGroups) return { claim, podOf };
  const isGroupUsing = (groupName: string, uid: string) =>
    caches.of(resources.podGroups).get(namespace, groupName)?.metadata.uid === uid &&
    !caches.of(resources.pods).byIndex("podGroup", groupKey(namespace, groupName)).every(isPodDone);
  return { claim, podOf, isGroupUsing };
}

/** The pod, the claims that it names, and those that were made for it although its status does not tell: an answer may have been lost. */
function keysOfPod(pod: DeepReadonly<Pod>, caches: Caches): string[] {
  const owned = caches.of(resources.resourceClaims).byIndex("owner", pod.metadata.uid ?? "");
  const made = owned.map(({ metadata }) => claimKey(metadata.namespace ?? "", metadata.name ?? ""));
  return [...new Set([podKey(pod), ...claimsOfPod(pod), ...made])];
}

/** The group, its pods, whose statuses name its claims, and its claims. */
function keysOfGroup({ metadata, spec, status }: DeepReadonly<PodGroup>, caches: Caches): string[] {
  const { namespace = "", name = "" } = metadata;
  const own = groupKey(namespace, name);
  const claims = [...(spec?.resourceClaims ?? []), ...(status?.resourceClaimStatuses ?? [])].flatMap(({ resourceClaimName }) => resourceClaimName ?? []);
  return [own, ...caches.of(resources.pods).byIndex("podGroup", own).map(podKey), ...claims.map((claim) => claimKey(namespace, claim))];
}

function groupsOfPod({ metadata, spec }: DeepReadonly<Pod>): string[] {
  const name = spec?.schedulingGroup?.podGroupName;
  return name === undefined ? [] : [groupKey(metadata.namespace ?? "", name)];
}

function groupOfClaim(claim: DeepReadonly<ResourceClaim>): string[] {
  const owner = controllerOf(claim);
  return owner?.kind === "PodGroup" ? [groupKey(claim.metadata.namespace ?? "", owner.name)] : [];
}

function claimsOfPod(pod: DeepReadonly<Pod>): string[] {
  return claimNamesOf(pod).map((name) => claimKey(pod.metadata.namespace ?? "", name));
}

function keysOfClaim(claim: DeepReadonly<ResourceClaim>, caches: Caches): string[] {
  const { namespace = "", name = "" } = claim.metadata;
  const own = claimKey(namespace, name);
  return [own, ...caches.of(resources.pods).byIndex("resourceClaim", own).map(podKey)];
}

function keysOfTemplate({ metadata }: DeepReadonly<ResourceClaimTemplate>, caches: Caches, hasGroups: boolean): string[] {
  const key = `${metadata.namespace}/${metadata.name}`;
  const groups = hasGroups ? caches.of(resources.podGroups).byIndex("template", key) : [];
  return [
    ...caches.of(resources.pods).byIndex("template", key).map(podKey),
    ...groups.map((group) => groupKey(metadata.namespace ?? "", group.metadata.name ?? "")),
  ];
}

/** What has claims made from templates. */
type ClaimedFor = DeepReadonly<Pod> | DeepReadonly<PodGroup>;

function templatesOf({ metadata, spec }: ClaimedFor): string[] {
  return (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName }) =>
    resourceClaimTemplateName === undefined ? [] : [`${metadata.namespace}/${resourceClaimTemplateName}`],
  );
}

function ownersOf(claim: DeepReadonly<ResourceClaim>): string[] {
  const owner = controllerOf(claim);
  return owner === undefined ? [] : [owner.uid];
}
