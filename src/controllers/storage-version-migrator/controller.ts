import { isConflict, isNotFound } from "../../apimachinery/status.ts";
import { discoverResources, preferredResources, resources } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { finishedAction, isFinished, startedAction } from "./plan.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ResourceType } from "../../client/index.ts";
import type { Controller, ControllerContext } from "../../operator/index.ts";

/** Writes all objects of a resource anew, in the version in which they are stored today. Keys are StorageVersionMigrations, one at a time. */
export function storageVersionMigratorController(): Controller {
  return defineController({
    name: "storage-version-migrator-controller",
    workers: 1,
    watches: [watch(resources.storageVersionMigrations, { keys: ownKey })],
    async reconcile(key, context) {
      const migration = context.caches.of(resources.storageVersionMigrations).get("", key);
      if (migration?.spec === undefined || isFinished(migration)) return;
      const type = await typeOf(migration.spec.resource, context);
      if (type === undefined) {
        const failure = "resource does not exist in RESTMapper";
        return void (await context.carryOut(key, { actions: [finishedAction(migration, failure, context.clock.nowMs())] }));
      }
      const { objects, resourceVersion } = await everything(type, context);
      const started = await context.carryOut(key, { actions: [startedAction(migration, resourceVersion, context.clock.nowMs())] });
      for (const object of objects) await writeAnew(type, object, context);
      const [result] = started.results;
      const now = result?.status === "done" && result.object !== undefined ? (result.object as typeof migration) : migration;
      await context.carryOut(key, { actions: [finishedAction(now, undefined, context.clock.nowMs())] });
    },
  });
}

async function typeOf(
  wanted: { readonly group?: string; readonly resource?: string },
  { client, signal }: ControllerContext,
): Promise<ResourceType | undefined> {
  const discovered = preferredResources(await discoverResources(client, { signal }));
  return discovered.find(({ type }) => type.group === (wanted.group ?? "") && type.resource === wanted.resource)?.type;
}

async function everything(type: ResourceType, { client, signal }: ControllerContext): Promise<{ objects: readonly KubeObject[]; resourceVersion: string }> {
  const objects: KubeObject[] = [];
  let resourceVersion = "";
  let next = "";
  do {
    const { items, metadata } = await client.list(type, "", { limit: pageSize, ...(next !== "" && { continue: next }), signal });
    objects.push(...items);
    if (resourceVersion === "") resourceVersion = metadata.resourceVersion ?? "";
    next = metadata.continue ?? "";
  } while (next !== "");
  return { objects, resourceVersion };
}

/** A patch that changes nothing has the server store the object in today's form. Whoever wrote meanwhile, or deleted, has done it for us. */
async function writeAnew(type: ResourceType, { metadata }: KubeObject, { client, signal }: ControllerContext): Promise<void> {
  const body = { metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion } };
  try {
    await client.patch(type, metadata.namespace ?? "", metadata.name ?? "", { type: "merge", body, signal });
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

const pageSize = 500;
