import { isNotFound } from "../../apimachinery/status.ts";
import { keyOf, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { accountNameAnnotation, planTokenSecret } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Secret, ServiceAccount } from "../../api/core-v1/types.ts";
import type { Controller, ControllerContext } from "../../operator/index.ts";

/** Fills and removes token Secrets of service accounts. Keys are Secrets. */
export function serviceAccountTokenController(options: { readonly privateKey: string; readonly caBundle: string; readonly workers?: number }): Controller {
  const { privateKey, caBundle } = options;
  return defineController({
    name: "serviceaccount-token-controller",
    account: "tokens-controller",
    workers: options.workers ?? 5,
    watches: [
      watch(resources.secrets, { keys: ownKey, indexes: { account: accountKey }, selection: { fieldSelector: "type=kubernetes.io/service-account-token" } }),
      watch(resources.serviceAccounts, { keys: (account, caches) => caches.of(resources.secrets).byIndex("account", keyOf(account)).map(keyOf) }),
    ],
    async reconcile(key, context) {
      const { namespace, name } = splitKey(key);
      const secret = context.caches.of(resources.secrets).get(namespace, name);
      if (secret === undefined || accountKey(secret).length === 0 || secret.metadata.deletionTimestamp !== undefined) return;
      const accountName = secret.metadata.annotations?.[accountNameAnnotation] ?? "";
      const cached = context.caches.of(resources.serviceAccounts).get(namespace, accountName);
      const account = cached ?? (await current(namespace, accountName, context));
      await context.carryOut(key, planTokenSecret({ secret, account, privateKey, caBundle }));
    },
  });
}

function accountKey({ metadata }: DeepReadonly<Secret>): readonly string[] {
  const name = metadata.annotations?.[accountNameAnnotation];
  return name === undefined || name === "" ? [] : [`${metadata.namespace}/${name}`];
}

/** Past the cache: a Secret must not go because we hear of its account late. */
async function current(namespace: string, name: string, { client, signal }: ControllerContext): Promise<DeepReadonly<ServiceAccount> | undefined> {
  try {
    return (await client.get(resources.serviceAccounts, namespace, name, { signal })) as DeepReadonly<ServiceAccount>;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
