import { resources } from "../../client/index.ts";
import { defineController, namespaceKey, ownKey, watch } from "../../operator/index.ts";
import { planRootCa, rootCaName } from "./plan.ts";
import type { Controller } from "../../operator/index.ts";
import type { RootCaSnapshot } from "./plan.ts";

/** Publishes the API server's CA into every namespace. Keys are namespaces. */
export function rootCaController(options: { readonly caBundle: string }): Controller {
  return defineController<RootCaSnapshot>({
    name: "root-ca-certificate-publisher-controller",
    account: "root-ca-cert-publisher",
    workers: 1,
    watches: [
      watch(resources.namespaces, { keys: ownKey }),
      watch(resources.configMaps, { keys: namespaceKey, selection: { fieldSelector: `metadata.name=${rootCaName}` } }),
    ],
    snapshot(key, caches) {
      const namespace = caches.of(resources.namespaces).get("", key);
      return namespace && { namespace, configMap: caches.of(resources.configMaps).get(key, rootCaName), caBundle: options.caBundle };
    },
    plan: planRootCa,
  });
}
