/** Charging an object to the quotas of its namespace: pure arithmetic, no writing. */
import type { ResourceQuota } from "../../../api/core-v1/types.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { addQuantities, compareQuantities, isZeroQuantity, subtractQuantities } from "../../../apimachinery/quantity.ts";
import type { Amounts } from "../pods/pod-resources.ts";
import { isInScope, scopesOf } from "./scopes.ts";
import type { Evaluator } from "./usage.ts";

/** What a request wants charged. */
export interface Charge {
  readonly resource: string;
  readonly evaluator: Evaluator;
  readonly object: KubeObject;
  readonly oldObject: KubeObject | undefined;
  /** Usage names that no quota may leave uncovered (configuration `limitedResources`). */
  readonly mustBeCovered: (usage: Amounts) => readonly string[];
}

export type Used = Readonly<Record<string, string>>;
/** New `status.used` by quota name, or why the request is refused. */
export type ChargeResult = { readonly used: ReadonlyMap<string, Used> } | { readonly refused: string };

/** `used` holds what earlier requests of the same batch have made of the quotas' status. */
export function chargeQuotas(charge: Charge, quotas: readonly ResourceQuota[], used: ReadonlyMap<string, Used>): ChargeResult {
  const { evaluator, object } = charge;
  const covered = new Set<string>();
  const interesting: ResourceQuota[] = [];
  for (const quota of quotas) {
    const names = Object.keys(quota.status?.hard ?? {})
      .filter((name) => evaluator.matches(name))
      .sort();
    if (names.length === 0 || !scopesOf(quota).every((scope) => isInScope(charge.resource, object, scope))) continue;
    const fault = evaluator.faults?.(names, object);
    if (fault !== undefined) return { refused: `failed quota: ${quota.metadata.name}: ${fault}` };
    const known = usedOf(quota, used);
    const unknown = names.filter((name) => known[name] === undefined);
    if (unknown.length > 0) return { refused: `status unknown for quota: ${quota.metadata.name}, resources: ${unknown.join(",")}` };
    interesting.push(quota);
    for (const name of names) covered.add(name);
  }
  const delta = deltaOf(charge);
  if (delta.size === 0) return { used: new Map() };
  const uncovered = charge.mustBeCovered(delta).filter((name) => !covered.has(name));
  if (uncovered.length > 0) return { refused: `insufficient quota to consume: ${uncovered.join(",")}` };
  const result = new Map<string, Used>();
  for (const quota of interesting) {
    const outcome = chargeOne(quota, usedOf(quota, used), delta);
    if (typeof outcome === "string") return { refused: outcome };
    result.set(quota.metadata.name!, outcome);
  }
  return { used: result };
}

function chargeOne(quota: ResourceQuota, before: Used, delta: Amounts): Used | string {
  const hard = quota.status!.hard!;
  const after: Record<string, string> = { ...before };
  const exceeded: string[] = [];
  for (const [name, amount] of delta) {
    if (hard[name] === undefined) continue;
    const sum = addQuantities(before[name] ?? 0, amount);
    after[name] = sum.text;
    if (compareQuantities(sum, hard[name]) > 0) exceeded.push(name);
  }
  if (exceeded.length === 0) return after;
  exceeded.sort();
  const list = (value: (name: string) => string) => exceeded.map((name) => `${name}=${value(name)}`).join(",");
  return `exceeded quota: ${quota.metadata.name}, requested: ${list((name) => delta.get(name)!.text)}, used: ${list((name) => before[name] ?? "0")}, limited: ${list((name) => String(hard[name]))}`;
}

/** What the object takes beyond what it took before; what it gives back is counted by the quota controller. */
function deltaOf({ evaluator, object, oldObject }: Charge): Amounts {
  const usage = evaluator.usage(object);
  const before = oldObject === undefined ? undefined : evaluator.usage(oldObject);
  const delta: Amounts = new Map();
  for (const [name, amount] of usage) {
    const old = before?.get(name);
    const more = old === undefined ? amount : subtractQuantities(amount, old);
    if (more.unscaled > 0n && !isZeroQuantity(more)) delta.set(name, more);
  }
  return delta;
}

function usedOf(quota: ResourceQuota, used: ReadonlyMap<string, Used>): Used {
  return used.get(quota.metadata.name!) ?? Object.fromEntries(Object.entries(quota.status?.used ?? {}).map(([name, amount]) => [name, String(amount)]));
}
