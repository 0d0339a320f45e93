import { controllerOf, resources, splitKey } from "../../client/index.ts";
import { defineController, watch } from "../../operator/index.ts";
import { planClaim } from "./claim-plan.ts";
import { claimKey, claimNamesOf, podKey } from "./pod-claims.ts";
import { planPod } from "./pod-plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { ResourceClaim, ResourceClaimTemplate } from "../../api/resource-v1/types.ts";
import type { Caches, Controller } from "../../operator/index.ts";
import type { ClaimSnapshot } from "./claim-plan.ts";
import type { PodSnapshot } from "./pod-plan.ts";

/** Makes the ResourceClaims of pods and keeps account of who uses them. Keys are pods and claims. */
export function resourceClaimController(options: { readonly workers?: number } = {}): Controller {
  return defineController<PodSnapshot | ClaimSnapshot>({
    name: "resourceclaim-controller",
    account: "resource-claim-controller",
    eventSource: "resource_claim",
    workers: options.workers ?? 10,
    watches: [
      watch(resources.pods, {
        keys: keysOfPod,
        isRelevant: ({ object }) => (object.spec?.resourceClaims ?? []).length > 0,
        indexes: { template: templatesOfPod, resourceClaim: claimsOfPod },
      }),
      watch(resources.resourceClaims, { keys: keysOfClaim, indexes: { owner: ownersOf } }),
      watch(resources.resourceClaimTemplates, { keys: keysOfTemplate }),
    ],
    snapshot(key, caches) {
      const [kind = "", place = ""] = key.split(":");
      const { namespace, name } = splitKey(place);
      return kind === "pod" ? podSnapshot(namespace, name, caches) : claimSnapshot(namespace, name, caches);
    },
    plan: (snapshot) => ("pod" in snapshot ? planPod(snapshot) : planClaim(snapshot)),
  });
}

function podSnapshot(namespace: string, name: string, caches: Caches): PodSnapshot | undefined {
  const pod = caches.of(resources.pods).get(namespace, name);
  if (pod === undefined) return undefined;
  const all = caches.of(resources.resourceClaims);
  const named = claimNamesOf(pod).flatMap((claimName) => all.get(namespace, claimName) ?? []);
  const templates = new Map<string, DeepReadonly<ResourceClaimTemplate>>();
  for (const { resourceClaimTemplateName = "" } of pod.spec?.resourceClaims ?? []) {
    const template = caches.of(resources.resourceClaimTemplates).get(namespace, resourceClaimTemplateName);
    if (template !== undefined) templates.set(resourceClaimTemplateName, template);
  }
  return { pod, claims: [...new Set([...named, ...all.byIndex("owner", pod.metadata.uid ?? "")])], templates };
}

function claimSnapshot(namespace: string, name: string, caches: Caches): ClaimSnapshot | undefined {
  const claim = caches.of(resources.resourceClaims).get(namespace, name);
  return claim && { claim, podOf: (podName) => caches.of(resources.pods).get(namespace, podName) };
}

function keysOfPod(pod: DeepReadonly<Pod>): string[] {
  return [podKey(pod), ...claimsOfPod(pod)];
}

function claimsOfPod(pod: DeepReadonly<Pod>): string[] {
  return claimNamesOf(pod).map((name) => claimKey(pod.metadata.namespace ?? "", name));
}

function keysOfClaim(claim: DeepReadonly<ResourceClaim>, caches: Caches): string[] {
  const { namespace = "", name = "" } = claim.metadata;
  const own = claimKey(namespace, name);
  return [own, ...caches.of(resources.pods).byIndex("resourceClaim", own).map(podKey)];
}

function keysOfTemplate({ metadata }: DeepReadonly<ResourceClaimTemplate>, caches: Caches): string[] {
  return caches.of(resources.pods).byIndex("template", `${metadata.namespace}/${metadata.name}`).map(podKey);
}

function templatesOfPod({ metadata, spec }: DeepReadonly<Pod>): string[] {
  return (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName }) =>
    resourceClaimTemplateName === undefined ? [] : [`${metadata.namespace}/${resourceClaimTemplateName}`],
  );
}

function ownersOf(claim: DeepReadonly<ResourceClaim>): string[] {
  const owner = controllerOf(claim);
  return owner === undefined ? [] : [owner.uid];
}
