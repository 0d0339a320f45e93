import { resources } from "../../client/index.ts";
import { defineController, namespaceKey, ownKey, watch } from "../../operator/index.ts";
import { planServiceAccounts } from "./plan.ts";
import type { Controller } from "../../operator/index.ts";
import type { ServiceAccountSnapshot } from "./plan.ts";

/** Gives every namespace its `default` ServiceAccount. Keys are namespaces. */
export const serviceAccountController: Controller = defineController<ServiceAccountSnapshot>({
  name: "serviceaccount-controller",
  account: "service-account-controller",
  workers: 1,
  watches: [
    watch(resources.namespaces, { keys: ownKey }),
    watch(resources.serviceAccounts, { keys: namespaceKey, isRelevant: (change) => change.kind === "delete" }),
  ],
  snapshot(key, caches) {
    const namespace = caches.of(resources.namespaces).get("", key);
    return namespace && { namespace, accounts: caches.of(resources.serviceAccounts).list(key) };
  },
  plan: planServiceAccounts,
});
