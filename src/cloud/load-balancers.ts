/** Which Services of type LoadBalancer get which address of a pool (documentation page "Service", type LoadBalancer; cloud provider interface LoadBalancer). Pure. */
import type { DeepReadonly } from "../apimachinery/json.ts";
import { ipText, parseCidr, parseIp, cidrContains } from "../apimachinery/net.ts";
import type { Service } from "../api/core-v1/types.ts";
import { referenceTo, resources } from "../client/index.ts";
import { eventAction, patchAction } from "../operator/index.ts";
import type { Action, Plan } from "../operator/index.ts";

/** Kept by Kubernetes' service controller, too: whoever made the load balancer removes it before the Service goes. */
export const finalizer = "service.kubernetes.io/load-balancer-cleanup";

export interface PoolSnapshot {
  readonly services: readonly DeepReadonly<Service>[];
  /** Canonical CIDRs, one for each family. */
  readonly pool: readonly string[];
}

/** Addresses for those that have none, and an end for those that need none any more. */
export function planLoadBalancers({ services, pool }: PoolSnapshot): Plan {
  const taken = new Set(services.filter(isWanted).flatMap(addressesOf));
  const actions = services.flatMap((service): Action[] => {
    if (!isWanted(service)) return released(service);
    if (addressesOf(service).length > 0 && hasFinalizer(service)) return [];
    return ensured(service, pool, taken);
  });
  return { actions };
}

/** Ours is the default class; a Service with another class has somebody else. */
function isWanted({ metadata, spec }: DeepReadonly<Service>): boolean {
  return metadata.deletionTimestamp === undefined && spec?.type === "LoadBalancer" && spec.loadBalancerClass === undefined;
}

function ensured(service: DeepReadonly<Service>, pool: readonly string[], taken: Set<string>): Action[] {
  const ensuring = event(service, "Normal", "EnsuringLoadBalancer", "Ensuring load balancer");
  const families = service.spec?.ipFamilies ?? ["IPv4"];
  const ranges = pool.filter((text) => families.includes(parseCidr(text)!.family));
  const addresses = addressesOf(service).length > 0 ? addressesOf(service) : ranges.map((range) => freeAddress(range, taken, service.spec?.loadBalancerIP));
  const missing =
    ranges.length === 0
      ? `no pool of ${families.join(" or ")} addresses`
      : addresses.includes(undefined)
        ? `no address is free in ${ranges.join(", ")}`
        : undefined;
  if (missing !== undefined)
    return [ensuring, event(service, "Warning", "SyncLoadBalancerFailed", `Error syncing load balancer: failed to ensure load balancer: ${missing}`)];
  for (const address of addresses) taken.add(address!);
  const status = { loadBalancer: { ingress: addresses.map((ip) => ({ ip: ip!, ipMode: "VIP" })) } };
  const finalizers = [...new Set([...(service.metadata.finalizers ?? []), finalizer])];
  return [ensuring, statusPatch(service, { metadata: { finalizers }, status }), event(service, "Normal", "EnsuredLoadBalancer", "Ensured load balancer")];
}

function released(service: DeepReadonly<Service>): Action[] {
  if (!hasFinalizer(service)) return [];
  const finalizers = service.metadata.finalizers!.filter((name) => name !== finalizer);
  return [
    event(service, "Normal", "DeletingLoadBalancer", "Deleting load balancer"),
    statusPatch(service, { metadata: { finalizers: finalizers.length === 0 ? null : finalizers }, status: { loadBalancer: { ingress: null } } }),
    event(service, "Normal", "DeletedLoadBalancer", "Deleted load balancer"),
  ];
}

/** The one that is asked for when it is in the range and free, else the first free one; undefined when there is none. */
function freeAddress(range: string, taken: ReadonlySet<string>, asked: string | undefined): string | undefined {
  const cidr = parseCidr(range)!;
  const wanted = asked === undefined || asked === "" ? undefined : parseIp(asked);
  if (wanted !== undefined && cidrContains(cidr, wanted)) return taken.has(ipText(wanted)) ? undefined : ipText(wanted);
  for (let bits = cidr.first + 1n; bits < cidr.last; bits++) {
    const address = ipText({ family: cidr.family, bits });
    if (!taken.has(address)) return address;
  }
  return undefined;
}

function addressesOf({ status }: DeepReadonly<Service>): string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }): string[] => (ip === undefined ? [] : [ip]));
}

function hasFinalizer({ metadata }: DeepReadonly<Service>): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}

function statusPatch(service: DeepReadonly<Service>, body: Record<string, unknown>): Action {
  return patchAction(resources.services, service, { type: "merge", body: body as never }, { subresource: "status" });
}

function event(service: DeepReadonly<Service>, type: "Normal" | "Warning", reason: string, message: string): Action {
  return eventAction(referenceTo(resources.services, service), { type, reason, message });
}
