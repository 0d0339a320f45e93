import { resources } from "../../client/index.ts";
import { deleteAction, nothingToDo, patchAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Secret } from "../../api/core-v1/types.ts";
import type { Plan } from "../../operator/index.ts";

/** Set by the API server when a token from a Secret is used, by day. */
export const lastUsedLabel = "kubernetes.io/legacy-token-last-used";
/** Set here; the API server refuses such tokens. */
export const invalidSinceLabel = "kubernetes.io/legacy-token-invalid-since";

/**
 * Tokens that Kubernetes once made for every service account are refused when nobody has used them for a long time, and deleted when nobody
 * has missed them for as long again (documentation page "Managing Service Accounts", legacy token cleaner).
 */
export function planLegacyToken({ secret, trackedSince, isGenerated, isMounted, periodMs }: LegacyToken, nowMs: number): Plan {
  if (trackedSince === undefined || !isGenerated || isMounted || secret.metadata.deletionTimestamp !== undefined) return nothingToDo;
  const { labels = {}, creationTimestamp } = secret.metadata;
  const invalidSince = dayOf(labels[invalidSinceLabel]);
  const usedAtMs = Math.max(dayOf(trackedSince) ?? nowMs, Date.parse(creationTimestamp ?? "") || nowMs, dayOf(labels[lastUsedLabel]) ?? 0);
  const dueMs = Math.max(usedAtMs, invalidSince ?? 0) + periodMs;
  if (nowMs < dueMs) return { actions: [], requeueAfterMs: dueMs - nowMs };
  if (invalidSince !== undefined)
    return { actions: [deleteAction(resources.secrets, secret, {}, { onError: whenGone })], reasons: ["nobody has missed the token since it became invalid"] };
  // Not if the token is used this moment: that changes the Secret.
  const body = {
    metadata: {
      uid: secret.metadata.uid,
      resourceVersion: secret.metadata.resourceVersion,
      labels: { [invalidSinceLabel]: new Date(nowMs).toISOString().slice(0, 10) },
    },
  };
  return {
    actions: [patchAction(resources.secrets, secret, { type: "merge", body }, { onError: whenGone })],
    requeueAfterMs: periodMs,
    reasons: ["nobody has used the token"],
  };
}

export interface LegacyToken {
  readonly secret: DeepReadonly<Secret>;
  /** The day from which the API server has noted uses; undefined when it does not. */
  readonly trackedSince: string | undefined;
  /** Whether the service account and the Secret name each other. */
  readonly isGenerated: boolean;
  readonly isMounted: boolean;
  readonly periodMs: number;
}

/** Milliseconds of `2006-01-02`. */
function dayOf(text: string | undefined): number | undefined {
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) ? undefined : ms;
}
