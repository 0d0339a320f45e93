import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { finishedAction, isFinished, startedAction } from "./plan.ts";
import type { StorageVersionMigration } from "../../api/storagemigration-v1/types.ts";
import type { Action, UpdateAction } from "../../operator/index.ts";

const migration: StorageVersionMigration = { metadata: { name: "m" }, spec: { resource: { group: "", resource: "configmaps" } } };
const after = (action: Action) => (action as UpdateAction).object as StorageVersionMigration;
const said = ({ status }: StorageVersionMigration) => status?.conditions?.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);

test("storage migration: runs, then succeeds", () => {
  const started = after(startedAction(migration, "7", 0));
  deepEqual(said(started), ["Running=True StorageVersionMigrationInProgress"]);
  const ended = after(finishedAction(started, undefined, 0));
  deepEqual(said(ended), ["Running=False MigrationCompleted", "Succeeded=True StorageVersionMigrationSucceeded"]);
  equal(ended.status?.resourceVersion, "7");
  deepEqual([isFinished(started), isFinished(ended)], [false, true]);
});
