/** Scopes narrow a quota to some objects (documentation page "Resource Quotas": "Quota scopes"). */
import type { PersistentVolumeClaim, Pod, ResourceQuota, ScopedResourceSelectorRequirement } from "../../../api/core-v1/types.ts";
import { qosClassOf } from "../../../api/core-v1/pod/qos.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";

/** All scopes of a quota, each as a requirement. */
export function scopesOf({ spec }: ResourceQuota): ScopedResourceSelectorRequirement[] {
  return [...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" })), ...(spec?.scopeSelector?.matchExpressions ?? [])];
}

/** Whether the object is inside the scope. Kinds other than pods and claims are in none. */
export function isInScope(resource: string, object: KubeObject, requirement: ScopedResourceSelectorRequirement): boolean {
  if (resource === "/pods") return isPodInScope(object as unknown as Pod, requirement);
  if (resource === "/persistentvolumeclaims" && requirement.scopeName === "VolumeAttributesClass")
    return matchesName((object as unknown as PersistentVolumeClaim).spec?.volumeAttributesClassName ?? "", requirement);
  return false;
}

function isPodInScope({ spec = {} }: Pod, requirement: ScopedResourceSelectorRequirement): boolean {
  switch (requirement.scopeName) {
    case "Terminating":
      return (spec.activeDeadlineSeconds ?? -1) >= 0;
    case "NotTerminating":
      return (spec.activeDeadlineSeconds ?? -1) < 0;
    case "BestEffort":
      return qosClassOf(spec) === "BestEffort";
    case "NotBestEffort":
      return qosClassOf(spec) !== "BestEffort";
    case "PriorityClass":
      return matchesName(spec.priorityClassName ?? "", requirement);
    case "CrossNamespacePodAffinity":
      return usesOtherNamespaces(spec.affinity);
    default:
      return false;
  }
}

function matchesName(name: string, { operator, values = [] }: ScopedResourceSelectorRequirement): boolean {
  switch (operator) {
    case "Exists":
      return name !== "";
    case "DoesNotExist":
      return name === "";
    case "In":
      return values.includes(name);
    case "NotIn":
      return !values.includes(name);
    default:
      return false;
  }
}

function usesOtherNamespaces(affinity: NonNullable<Pod["spec"]>["affinity"]): boolean {
  const sides = [affinity?.podAffinity, affinity?.podAntiAffinity];
  const terms = sides.flatMap((side) => [
    ...(side?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(side?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
  return terms.some((term) => (term.namespaces ?? []).length > 0 || term.namespaceSelector !== undefined);
}
