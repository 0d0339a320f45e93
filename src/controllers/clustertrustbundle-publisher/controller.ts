import { resources } from "../../client/index.ts";
import { defineController, watch } from "../../operator/index.ts";
import { planBundle, servingSigner } from "./plan.ts";
import type { Controller } from "../../operator/index.ts";
import type { BundleSnapshot } from "./plan.ts";

/** Publishes the API server's CA as a ClusterTrustBundle. There is one key. */
export function trustBundlePublisherController(options: { readonly caBundle: string }): Controller {
  return defineController<BundleSnapshot>({
    name: "kube-apiserver-serving-clustertrustbundle-publisher-controller",
    account: "kube-apiserver-serving-clustertrustbundle-publisher",
    workers: 1,
    watches: [watch(resources.clusterTrustBundles, { keys: () => [onlyKey], selection: { fieldSelector: `spec.signerName=${servingSigner}` } })],
    snapshot: (_key, caches) => ({ caBundle: options.caBundle, published: caches.of(resources.clusterTrustBundles).list() }),
    plan: planBundle,
    async start({ queue }) {
      queue.add(onlyKey);
    },
  });
}

const onlyKey = "bundle";
