import { resources } from "../../client/index.ts";
import { defineController, watch } from "../../operator/index.ts";
import { planServiceCidr } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Caches, Controller } from "../../operator/index.ts";
import type { ServiceCidrSnapshot } from "./plan.ts";

/** Keeps ServiceCIDRs ready, and back while their addresses are used. Keys are ServiceCIDRs. */
export function serviceCidrController(): Controller {
  return defineController<ServiceCidrSnapshot>({
    name: "service-cidr-controller",
    account: "service-cidrs-controller",
    watches: [
      // Another range may overlap with those that are going.
      watch(resources.serviceCIDRs, { keys: (serviceCidr, caches) => [serviceCidr.metadata.name ?? "", ...leaving(serviceCidr, caches)] }),
      watch(resources.ipAddresses, { keys: leaving }),
    ],
    snapshot(name, caches) {
      const all = caches.of(resources.serviceCIDRs);
      const serviceCidr = all.get("", name);
      if (serviceCidr === undefined) return undefined;
      return {
        serviceCidr,
        others: all.list().filter((other) => other !== serviceCidr && other.metadata.deletionTimestamp === undefined),
        addresses: caches
          .of(resources.ipAddresses)
          .list()
          .map(({ metadata }) => metadata.name ?? ""),
      };
    },
    plan: planServiceCidr,
  });
}

function leaving(_object: DeepReadonly<KubeObject>, caches: Caches): string[] {
  const all = caches.of(resources.serviceCIDRs).list();
  return all.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(({ metadata }) => metadata.name ?? "");
}
