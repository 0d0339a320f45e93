import { formatTime } from "../../apimachinery/time.ts";
import { edited, resources } from "../../client/index.ts";
import { updateStatusAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { StorageVersionMigration } from "../../api/storagemigration-v1/types.ts";
import type { Action } from "../../operator/index.ts";

export function isFinished({ status }: DeepReadonly<StorageVersionMigration>): boolean {
  return (status?.conditions ?? []).some(({ type, status: is }) => (type === "Succeeded" || type === "Failed") && is === "True");
}

/** The migration as it runs from now on. `resourceVersion`: what was written later is in the new form anyway. */
export function startedAction(migration: DeepReadonly<StorageVersionMigration>, resourceVersion: string, nowMs: number): Action {
  return withConditions(migration, [{ type: "Running", isTrue: true, reason: "StorageVersionMigrationInProgress", message: "" }], nowMs, resourceVersion);
}

/** The migration at its end; `failure` is why it failed. */
export function finishedAction(migration: DeepReadonly<StorageVersionMigration>, failure: string | undefined, nowMs: number): Action {
  if (failure === undefined) {
    const running = { type: "Running", isTrue: false, reason: "MigrationCompleted", message: "Migration completed" };
    return withConditions(
      migration,
      [running, { type: "Succeeded", isTrue: true, reason: "StorageVersionMigrationSucceeded", message: "Migration completed" }],
      nowMs,
    );
  }
  const running = { type: "Running", isTrue: false, reason: "MigrationFailed", message: failure };
  return withConditions(migration, [running, { type: "Failed", isTrue: true, reason: "StorageVersionMigrationFailed", message: failure }], nowMs);
}

interface Told {
  readonly type: string;
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
}

function withConditions(migration: DeepReadonly<StorageVersionMigration>, told: readonly Told[], nowMs: number, resourceVersion?: string): Action {
  const conditions = told.map(({ type, isTrue, reason, message }) => ({
    type,
    status: isTrue ? "True" : "False",
    lastTransitionTime: formatTime(nowMs),
    reason,
    message,
  }));
  const updated = edited<StorageVersionMigration>(migration, (draft) => {
    const others = (draft.status?.conditions ?? []).filter(({ type }) => !told.some((one) => one.type === type));
    draft.status = { ...draft.status, conditions: [...others, ...conditions], ...(resourceVersion !== undefined && { resourceVersion }) };
  });
  return updateStatusAction(resources.storageVersionMigrations, updated, { onError: whenGone });
}
