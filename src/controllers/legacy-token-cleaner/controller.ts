import { resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { planLegacyToken } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, Secret, ServiceAccount } from "../../api/core-v1/types.ts";
import type { Caches, Controller } from "../../operator/index.ts";
import type { LegacyToken } from "./plan.ts";

/** Cleans up service account tokens that stand in Secrets and that nobody uses. Keys are Secrets. */
export function legacyTokenCleaner({ periodMs }: { readonly periodMs: number }): Controller {
  return defineController<LegacyToken>({
    name: "legacy-serviceaccount-token-cleaner-controller",
    account: "legacy-service-account-token-cleaner",
    workers: 1,
    watches: [
      watch(resources.secrets, { keys: ownKey, selection: { fieldSelector: `type=${tokenType}` } }),
      watch(resources.serviceAccounts, { keys: secretsOfAccount }),
      watch(resources.pods, { keys: secretsOfPod, isRelevant: ({ object }) => secretsOfPod(object).length > 0, indexes: { secret: secretsOfPod } }),
      watch(resources.configMaps, {
        keys: (_object, caches) => allSecrets(caches),
        selection: { namespace: "kube-system", fieldSelector: `metadata.name=${trackingName}` },
      }),
    ],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      const secret = caches.of(resources.secrets).get(namespace, name);
      if (secret === undefined) return undefined;
      const trackedSince = caches.of(resources.configMaps).get("kube-system", trackingName)?.data?.since;
      const isMounted = caches.of(resources.pods).byIndex("secret", key).length > 0;
      return { secret, trackedSince, isGenerated: isNamedByAccount(secret, caches), isMounted, periodMs };
    },
    plan: planLegacyToken,
  });
}

const tokenType = "kubernetes.io/service-account-token";
/** Kept by the API server. */
const trackingName = "kube-apiserver-legacy-service-account-token-tracking";

function isNamedByAccount({ metadata }: DeepReadonly<Secret>, caches: Caches): boolean {
  const { "kubernetes.io/service-account.name": name = "", "kubernetes.io/service-account.uid": uid } = metadata.annotations ?? {};
  const account = caches.of(resources.serviceAccounts).get(metadata.namespace ?? "", name);
  return account !== undefined && account.metadata.uid === uid && account.secrets?.some((one) => one.name === metadata.name) === true;
}

function secretsOfAccount({ metadata, secrets = [] }: DeepReadonly<ServiceAccount>): string[] {
  return secrets.map(({ name }) => `${metadata.namespace}/${name}`);
}

/** Secrets that a pod mounts. */
function secretsOfPod({ metadata, spec }: DeepReadonly<Pod>): string[] {
  return (spec?.volumes ?? []).flatMap(({ secret }) => (secret?.secretName === undefined ? [] : [`${metadata.namespace}/${secret.secretName}`]));
}

function allSecrets(caches: Caches): string[] {
  return caches
    .of(resources.secrets)
    .list()
    .flatMap((secret) => ownKey(secret));
}
