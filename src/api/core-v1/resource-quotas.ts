/** ResourceQuotas (API reference "ResourceQuota v1 core"). */
import { invalid, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { internalForm } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import { isStandardQuotaResource, roundResourceList, validateResourceAmount, validateResourceName } from "./resource-names.ts";
import type { ResourceList } from "./resource-names.ts";
import type { ResourceQuota, ResourceQuotaSpec } from "./types.ts";

const path = FieldPath.root("spec");

export const resourceQuotas = defineKind<ResourceQuota>({
  gvk: { group: "", version: "v1", kind: "ResourceQuota" },
  nameRule: subdomainName,
  generation: "none",
  defaults: ({ spec, status }) => [spec?.hard, status?.hard, status?.used].forEach(roundResourceList),
  create: {
    prepare: (quota) => {
      quota.status = {};
    },
    validate: validateQuota,
  },
  update: {
    prepare: (quota, old) => restoreMembers(quota, old, "status"),
    validate: (quota, old) => [...validateQuota(quota), ...validateScopeChange(quota, old)],
    resetFields: ["status"],
  },
  status: {
    prepare: (quota, old) => restoreMembers(quota, old, "spec"),
    validate: ({ status = {} }) => (["hard", "used"] as const).flatMap((field) => validateList(status[field], FieldPath.root("status", field))),
    resetFields: ["spec"],
  },
  delete: { answer: "object" },
});

function validateQuota({ spec = {} }: ResourceQuota): FieldError[] {
  return [...validateList(spec.hard, path.child("hard")), ...validateScopes(spec), ...validateScopeSelector(spec)];
}

function validateList(list: ResourceList | undefined, at: FieldPath): FieldError[] {
  return Object.keys(list ?? {})
    .sort()
    .flatMap((name) => {
      const errors = validateResourceName(name, at.key(name));
      if (!name.includes("/") && !isStandardQuotaResource(name)) errors.push(invalid(at.key(name), name, "must be a standard resource for quota"));
      return [...errors, ...validateResourceAmount(name, list![name]!, at.key(name))];
    });
}

const computeResources = ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];
const podResources = ["pods", ...computeResources];
/** Resources that each scope can be applied to. */
const resourcesByScope: Readonly<Record<string, readonly string[]>> = {
  Terminating: podResources,
  NotTerminating: podResources,
  BestEffort: ["pods"],
  NotBestEffort: podResources,
  PriorityClass: podResources,
  CrossNamespacePodAffinity: podResources,
  VolumeAttributesClass: ["persistentvolumeclaims", "requests.storage"],
};
const conflicts = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;

/** Whether the quota has a standard resource that the scope cannot be applied to. */
function isMisfit(scope: string, hard: ResourceList | undefined): boolean {
  return Object.keys(hard ?? {}).some((name) => isStandardQuotaResource(name) && resourcesByScope[scope]?.includes(name) !== true);
}

function validateScopes({ scopes = [], hard }: ResourceQuotaSpec): FieldError[] {
  const at = path.child("scopes");
  const errors = scopes.flatMap((scope) => {
    if (!Object.hasOwn(resourcesByScope, scope)) return [invalid(at, scopes, "unsupported scope")];
    return isMisfit(scope, hard) ? [invalid(at, scopes, "unsupported scope applied to resource")] : [];
  });
  return [...errors, ...conflicts.filter((pair) => pair.every((scope) => scopes.includes(scope))).map(() => invalid(at, scopes, "conflicting scopes"))];
}

const plainScopes = ["Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity"];
const plainText =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

function validateScopeSelector({ scopeSelector, hard, scopes }: ResourceQuotaSpec): FieldError[] {
  const requirements = scopeSelector?.matchExpressions ?? [];
  const at = path.child("scopeSelector", "matchExpressions");
  const errors = requirements.flatMap(({ scopeName = "", operator = "", values = [] }) => {
    const isKnown = Object.hasOwn(resourcesByScope, scopeName);
    const faults: FieldError[] = isKnown ? [] : [invalid(at.child("scopeName"), scopeName, "unsupported scope")];
    if (isKnown && isMisfit(scopeName, hard))
      faults.push(invalid(at, internalForm("api.core.v1.ScopeSelector", scopeSelector), "unsupported scope applied to resource"));
    if (plainScopes.includes(scopeName) && operator !== "Exists") faults.push(invalid(at.child("operator"), operator, plainText));
    if (operator === "In" || operator === "NotIn") {
      if (values.length === 0) faults.push(required(at.child("values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"));
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (values.length > 0)
        faults.push(invalid(at.child("values"), values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"));
    } else {
      faults.push(invalid(at.child("operator"), operator, "not a valid selector operator"));
    }
    return faults;
  });
  const names = requirements.map(({ scopeName }) => scopeName);
  return [...errors, ...conflicts.filter((pair) => pair.every((scope) => names.includes(scope))).map(() => invalid(at, scopes, "conflicting scopes"))];
}

function validateScopeChange({ spec = {} }: ResourceQuota, { spec: before = {} }: ResourceQuota): FieldError[] {
  const setOf = (scopes: readonly string[] | undefined) => [...new Set(scopes)].sort().join();
  return setOf(spec.scopes) === setOf(before.scopes) ? [] : [invalid(path.child("scopes"), spec.scopes, "field is immutable")];
}
