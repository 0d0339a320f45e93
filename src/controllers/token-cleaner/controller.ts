import { resources, splitKey } from "../../client/index.ts";
import { defineController, deleteAction, nothingToDo, ownKey, watch } from "../../operator/index.ts";
import { bootstrapTokenType, validForMs } from "../bootstrap-signer/bootstrap-token.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Secret } from "../../api/core-v1/types.ts";
import type { Controller, Plan } from "../../operator/index.ts";

/** Removes bootstrap tokens that have expired. Keys are Secrets. */
export function tokenCleanerController(): Controller {
  return defineController<DeepReadonly<Secret>>({
    name: "token-cleaner-controller",
    account: "token-cleaner",
    workers: 1,
    watches: [watch(resources.secrets, { keys: ownKey, selection: { namespace: "kube-system", fieldSelector: `type=${bootstrapTokenType}` } })],
    snapshot(key, caches) {
      const { namespace, name } = splitKey(key);
      return caches.of(resources.secrets).get(namespace, name);
    },
    plan: planTokenExpiry,
  });
}

/** Deletes a token whose time is over, or comes back when it will be. */
export function planTokenExpiry(secret: DeepReadonly<Secret>, nowMs: number): Plan {
  const leftMs = validForMs(secret, nowMs);
  if (leftMs === Number.POSITIVE_INFINITY) return nothingToDo;
  if (leftMs > 0) return { actions: [], requeueAfterMs: leftMs };
  return { actions: [deleteAction(resources.secrets, secret, {}, { onError: whenGone })], reasons: ["the token has expired"] };
}
