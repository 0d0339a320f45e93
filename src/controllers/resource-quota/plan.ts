import { deepEqual } from "../../apimachinery/json.ts";
import { addQuantities, quantityOf } from "../../apimachinery/quantity.ts";
import { edited, resources } from "../../client/index.ts";
import { nothingToDo, updateStatusAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Quantity } from "../../apimachinery/quantity.ts";
import type { ResourceQuota } from "../../api/core-v1/types.ts";
import type { Plan } from "../../operator/index.ts";

/** Counts anew what a quota's namespace uses (documentation page "Resource Quotas"): the status says what is allowed and what is used. */
export function planQuota({ quota, holdings, rules }: QuotaSnapshot): Plan {
  const hard = quota.spec?.hard ?? {};
  const used: Record<string, string> = {};
  for (const name of Object.keys(hard)) {
    let total: Quantity = quantityOf(0, "decimalSI");
    let isCounted = false;
    for (const { group, resource, objects } of holdings) {
      if (!rules.counts(group, resource, name)) continue;
      isCounted = true;
      for (const object of objects) {
        if (!rules.isInScope(group, resource, object, quota)) continue;
        const amount = rules.usage(group, resource, object).get(name);
        if (amount !== undefined) total = addQuantities(total, amount);
      }
    }
    if (isCounted) used[name] = total.text;
  }
  const status = { hard: { ...hard }, used };
  if (deepEqual(status, quota.status ?? {})) return nothingToDo;
  const updated = edited<ResourceQuota>(quota, (draft) => {
    draft.status = status;
  });
  return { actions: [updateStatusAction(resources.resourceQuotas, updated, { onError: whenGone })] };
}

export interface QuotaSnapshot {
  readonly quota: DeepReadonly<ResourceQuota>;
  /** What the namespace holds, of every resource that the quota counts. */
  readonly holdings: readonly Holding[];
  readonly rules: QuotaRules;
}
export interface Holding {
  readonly group: string;
  readonly resource: string;
  readonly objects: readonly DeepReadonly<KubeObject>[];
}

/** What objects take from quotas: the API server's own rules, so that both count alike. */
export interface QuotaRules {
  /** Whether objects of a resource count for a quota resource of this name. */
  counts(group: string, resource: string, name: string): boolean;
  /** What an object takes, by name of the quota resource. */
  usage(group: string, resource: string, object: DeepReadonly<KubeObject>): ReadonlyMap<string, Quantity>;
  /** Whether the quota's scopes include an object. */
  isInScope(group: string, resource: string, object: DeepReadonly<KubeObject>, quota: DeepReadonly<ResourceQuota>): boolean;
}
