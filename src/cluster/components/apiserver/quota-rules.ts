/** The API server's rules of counting, as the quota controller takes them. */
import { evaluatorFor } from "../../../apiserver/admission/quota/usage.ts";
import { isInScope, scopesOf } from "../../../apiserver/admission/quota/scopes.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { ResourceQuota } from "../../../api/core-v1/types.ts";
import type { QuotaRules } from "../../../controllers/index.ts";

export const quotaRules: QuotaRules = {
  counts: (group, resource, name) => evaluatorFor(group, resource)?.matches(name) === true,
  usage: (group, resource, object) => evaluatorFor(group, resource)?.usage(object as KubeObject) ?? new Map(),
  isInScope: (group, resource, object, quota) =>
    scopesOf(quota as ResourceQuota).every((scope) => isInScope(`${group}/${resource}`, object as KubeObject, scope)),
};
