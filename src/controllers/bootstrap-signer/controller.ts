import { resources } from "../../client/index.ts";
import { defineController, watch } from "../../operator/index.ts";
import { bootstrapTokenType } from "./bootstrap-token.ts";
import { planSignatures } from "./plan.ts";
import type { Controller } from "../../operator/index.ts";
import type { SignatureSnapshot } from "./plan.ts";

/** Signs `cluster-info`. There is one key. */
export function bootstrapSignerController(): Controller {
  return defineController<SignatureSnapshot>({
    name: "bootstrap-signer-controller",
    account: "bootstrap-signer",
    workers: 1,
    watches: [
      watch(resources.secrets, { keys: () => [clusterInfoName], selection: { namespace: "kube-system", fieldSelector: `type=${bootstrapTokenType}` } }),
      watch(resources.configMaps, {
        keys: () => [clusterInfoName],
        selection: { namespace: "kube-public", fieldSelector: `metadata.name=${clusterInfoName}` },
      }),
    ],
    snapshot(name, caches) {
      const clusterInfo = caches.of(resources.configMaps).get("kube-public", name);
      return clusterInfo && { clusterInfo, secrets: caches.of(resources.secrets).list("kube-system") };
    },
    plan: planSignatures,
  });
}

const clusterInfoName = "cluster-info";
