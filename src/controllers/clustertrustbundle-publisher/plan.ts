import { createHash } from "node:crypto";
import { isAlreadyExists } from "../../apimachinery/status.ts";
import { edited, resources } from "../../client/index.ts";
import { createAction, deleteAction, updateAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ClusterTrustBundle } from "../../api/certificates-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/** The CA of the API server is published as a ClusterTrustBundle named after its contents; those of older contents are removed (KEP-3257). */
export function planBundle({ caBundle, published }: BundleSnapshot): Plan {
  const name = `${servingSigner.replace("/", ":")}:${createHash("sha256").update(caBundle).digest("hex")}`;
  const current = published.find(({ metadata }) => metadata.name === name);
  const old = published.filter((bundle) => bundle !== current);
  return {
    actions: [...publication(name, caBundle, current), ...old.map((bundle) => deleteAction(resources.clusterTrustBundles, bundle, {}, { onError: whenGone }))],
  };
}

export interface BundleSnapshot {
  /** PEM. */
  readonly caBundle: string;
  /** Those of the signer. */
  readonly published: readonly DeepReadonly<ClusterTrustBundle>[];
}

export const servingSigner = "kubernetes.io/kube-apiserver-serving";

function publication(name: string, trustBundle: string, current: DeepReadonly<ClusterTrustBundle> | undefined): Action[] {
  if (current === undefined) {
    const bundle: ClusterTrustBundle = { metadata: { name }, spec: { signerName: servingSigner, trustBundle } };
    return [createAction(resources.clusterTrustBundles, bundle, { onError: (error) => ({ severity: isAlreadyExists(error) ? "ignore" : "stop" }) })];
  }
  if (current.spec.trustBundle === trustBundle) return [];
  const updated = edited<ClusterTrustBundle>(current, (draft) => {
    draft.spec.trustBundle = trustBundle;
  });
  return [updateAction(resources.clusterTrustBundles, updated)];
}
