import { keyOf, resources, splitKey } from "../../client/index.ts";
import { defineController, watch } from "../../operator/index.ts";
import { devicesOf, endMs, selects } from "./device-taints.ts";
import { planDeviceEviction, reasonsToLeave } from "./plan.ts";
import { planRule } from "./rule-plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { DeviceTaintRule, ResourceClaim, ResourceSlice } from "../../api/resource-v1/types.ts";
import type { Caches, Controller, ControllerContext } from "../../operator/index.ts";
import type { DeviceSnapshot } from "./plan.ts";
import type { RuleSnapshot } from "./rule-plan.ts";

/** Moves pods away from tainted devices. Keys are pods and DeviceTaintRules. */
export function deviceTaintEvictionController(options: { readonly workers?: number } = {}): Controller {
  const evicted = new Map<string, number>();
  return defineController({
    name: "device-taint-eviction-controller",
    workers: options.workers ?? 8,
    watches: [
      watch(resources.pods, { keys: keysOfPod, isRelevant: ({ object }) => (object.spec?.resourceClaims ?? []).length > 0 }),
      watch(resources.resourceClaims, { keys: usersOf, indexes: { user: usersOf, pool: poolsOf } }),
      watch(resources.resourceSlices, {
        keys: ({ spec }, caches) => caches.of(resources.resourceClaims).byIndex("pool", `${spec.driver}/${spec.pool.name}`).flatMap(usersOf),
      }),
      watch(resources.deviceTaintRules, { keys: keysOfRule }),
    ],
    async reconcile(key, context) {
      const nowMs = context.clock.nowMs();
      const [kind, place = ""] = key.split(":");
      if (kind === "rule") {
        const snapshot = ruleSnapshot(place, evicted.get(place) ?? 0, context.caches);
        if (snapshot !== undefined) await context.carryOut(key, planRule(snapshot, nowMs));
        return;
      }
      const snapshot = podSnapshot(key, place, context.caches);
      if (snapshot === undefined) return;
      const { results } = await context.carryOut(key, planDeviceEviction(snapshot, nowMs));
      if (results.some(({ action, status }) => action.kind === "delete" && status === "done")) credit(snapshot, evicted, context);
    },
  });
}

/** Counts an eviction for the rules that caused it. */
function credit(snapshot: DeviceSnapshot, evicted: Map<string, number>, { clock, queue }: ControllerContext): void {
  const causes = reasonsToLeave(snapshot).filter(({ atMs, rule }) => rule !== undefined && atMs <= clock.nowMs());
  for (const rule of new Set(causes.map((cause) => cause.rule ?? ""))) {
    evicted.set(rule, (evicted.get(rule) ?? 0) + 1);
    queue.add(`rule:${rule}`);
  }
}

function podSnapshot(key: string, place: string, caches: Caches): DeviceSnapshot | undefined {
  const { namespace, name } = splitKey(place);
  const pod = caches.of(resources.pods).get(namespace, name);
  if (pod === undefined) return undefined;
  const claims = caches
    .of(resources.resourceClaims)
    .byIndex("user", key)
    .filter(({ status }) => status?.reservedFor?.some(({ uid }) => uid === pod.metadata.uid) === true);
  return { pod, claims, slices: caches.of(resources.resourceSlices).list(), rules: caches.of(resources.deviceTaintRules).list() };
}

function ruleSnapshot(name: string, evicted: number, caches: Caches): RuleSnapshot | undefined {
  const rule = caches.of(resources.deviceTaintRules).get("", name);
  if (rule === undefined) return undefined;
  const published = caches
    .of(resources.resourceSlices)
    .list()
    .flatMap(namesIn)
    .filter((device) => selects(rule, device));
  const claims = caches.of(resources.resourceClaims).list();
  const allocated = claims.flatMap(devicesOf).filter((device) => selects(rule, device));
  const taint = { ...rule.spec.taint, key: rule.spec.taint?.key ?? "", effect: "NoExecute" };
  const isDriven = (claim: DeepReadonly<ResourceClaim>) => devicesOf(claim).some((device) => selects(rule, device) && Number.isFinite(endMs(device, taint)));
  const users = new Set(claims.filter(isDriven).flatMap(usersOf));
  const pods = [...users].flatMap((key) => {
    const place = splitKey(key.slice("pod:".length));
    return caches.of(resources.pods).get(place.namespace, place.name) ?? [];
  });
  const affected = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.namespace ?? "");
  return { rule, published: published.length, allocated: allocated.length, affected, evicted };
}

function namesIn({ spec }: DeepReadonly<ResourceSlice>): { driver: string; pool: string; device: string }[] {
  return (spec.devices ?? []).map(({ name }) => ({ driver: spec.driver, pool: spec.pool.name, device: name }));
}

/** A pod that goes also changes what its rules have to tell. */
function keysOfPod(pod: DeepReadonly<Pod>, caches: Caches): string[] {
  const key = `pod:${keyOf(pod)}`;
  const devices = caches.of(resources.resourceClaims).byIndex("user", key).flatMap(devicesOf);
  const rules = caches
    .of(resources.deviceTaintRules)
    .list()
    .filter((rule) => devices.some((device) => selects(rule, device)));
  return [key, ...rules.map(({ metadata }) => `rule:${metadata.name}`)];
}

function keysOfRule(rule: DeepReadonly<DeviceTaintRule>, caches: Caches): string[] {
  const claims = caches
    .of(resources.resourceClaims)
    .list()
    .filter((claim) => devicesOf(claim).some((device) => selects(rule, device)));
  return [`rule:${rule.metadata.name}`, ...claims.flatMap(usersOf)];
}

function usersOf({ metadata, status }: DeepReadonly<ResourceClaim>): string[] {
  return (status?.reservedFor ?? []).filter(({ resource }) => resource === "pods").map(({ name }) => `pod:${metadata.namespace}/${name}`);
}

function poolsOf(claim: DeepReadonly<ResourceClaim>): string[] {
  return devicesOf(claim).map(({ driver, pool }) => `${driver}/${pool}`);
}
