/**
 * Makes a directory and a PersistentVolume for each claim that a class of ours asks for, and removes both when they are no longer wanted.
 * All nodes are of this machine. Keys are claims (`namespace/name`) and volumes (`name`); each step can be repeated after a crash.
 */
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { Transport } from "../apimachinery/request.ts";
import { isAlreadyExists, isNotFound } from "../apimachinery/status.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../api/core-v1/types.ts";
import type { PolicyRule } from "../api/rbac-v1/types.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { TaskGroup } from "../base/task-group.ts";
import { Client, ensureObject, EventRecorder, InformerSet, referenceTo, resources, splitKey } from "../client/index.ts";
import { createAction, defineController, deleteAction, eventAction, ownKey, patchAction, watch } from "../operator/index.ts";
import type { Controller, ControllerContext } from "../operator/index.ts";
import type { VolumeDirectories } from "./directories.ts";
import { annotations, finalizer, newVolume, planClaim, planVolume, provisionerName } from "./plan.ts";
import type { ClaimSnapshot } from "./plan.ts";
import { defaultStorageClass } from "./storage-class.ts";

export interface ProvisionerOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly directories: VolumeDirectories;
}

/** Runs until `signal` aborts. */
export function createProvisioner(options: ProvisionerOptions): { run(signal: AbortSignal): Promise<void> } {
  const { transport, clock, random, log } = options;
  return {
    run: async (signal) => {
      const client = new Client({ transport, clock, userAgent: "coracle-local-path", signal });
      await ensureObject(client, resources.storageClasses, defaultStorageClass, { clock, signal });
      const events = new EventRecorder({ client, clock, random, log, component: provisionerName });
      const informers = new InformerSet({ client, clock, random, log });
      const group = new TaskGroup({ parent: signal, onFailure: (name, error) => log.error("A part of the provisioner failed", { name, error }) });
      try {
        group.start("events", (inner) => events.run(inner));
        group.start("volumes", (inner) => provisionerController(options.directories).run({ client, informers, events, clock, random, log }, inner));
        await group.join();
      } finally {
        await informers.close();
      }
    },
  };
}

/** What it may do, for a ClusterRole. */
export function provisionerRules(): PolicyRule[] {
  const read = ["get", "list", "watch"];
  return [
    { apiGroups: [""], resources: ["persistentvolumes"], verbs: [...read, "create", "delete", "patch"] },
    { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: [...read, "patch"] },
    { apiGroups: [""], resources: ["nodes"], verbs: read },
    { apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: [...read, "create"] },
    { apiGroups: [""], resources: ["events"], verbs: ["create", "patch", "update"] },
  ];
}

function provisionerController(directories: VolumeDirectories): Controller {
  return defineController({
    name: "local-path-provisioner",
    watches: [
      watch(resources.persistentVolumeClaims, { keys: ownKey, indexes: { class: classOf } }),
      watch(resources.persistentVolumes, { keys: ownKey }),
      watch(resources.storageClasses, {
        keys: ({ metadata }, caches) =>
          caches
            .of(resources.persistentVolumeClaims)
            .byIndex("class", metadata.name ?? "")
            .map(({ metadata: own }) => `${own.namespace}/${own.name}`),
      }),
      watch(resources.nodes),
    ],
    reconcile: (key, context) => {
      const { namespace, name } = splitKey(key);
      return namespace === "" ? reclaim(name, directories, context) : provision(key, directories, context);
    },
  });
}

function classOf({ spec }: DeepReadonly<PersistentVolumeClaim>): string[] {
  return [spec?.storageClassName ?? ""];
}

async function provision(key: string, directories: VolumeDirectories, context: ControllerContext): Promise<void> {
  const { namespace, name } = splitKey(key);
  const { caches } = context;
  const claim = caches.of(resources.persistentVolumeClaims).get(namespace, name);
  if (claim === undefined) return;
  const snapshot: ClaimSnapshot = {
    claim,
    storageClass: caches.of(resources.storageClasses).get("", claim.spec?.storageClassName ?? ""),
    node: caches.of(resources.nodes).get("", claim.metadata.annotations?.[annotations.selectedNode] ?? ""),
    hasVolume: caches.of(resources.persistentVolumes).get("", `pvc-${claim.metadata.uid}`) !== undefined,
  };
  const decision = planClaim(snapshot);
  const tell = (type: "Normal" | "Warning", reason: string, message: string) =>
    eventAction(referenceTo(resources.persistentVolumeClaims, claim), { type, reason, message });
  switch (decision.kind) {
    case "none":
      return;
    case "refuse":
      return done(context.carryOut(key, { actions: [tell("Warning", "ProvisioningFailed", decision.message)] }));
    case "reschedule": {
      const body = { metadata: { annotations: { [annotations.selectedNode]: null } } };
      return done(
        context.carryOut(key, {
          actions: [tell("Warning", "ProvisioningFailed", decision.message), patchAction(resources.persistentVolumeClaims, claim, { type: "merge", body })],
        }),
      );
    }
    case "provision": {
      await context.carryOut(key, {
        actions: [tell("Normal", "Provisioning", `External provisioner is provisioning volume for claim ${JSON.stringify(key)}`)],
      });
      const path = directories.pathOf(decision.directory);
      try {
        await directories.make(path);
      } catch (error) {
        const message = `failed to provision volume with StorageClass ${JSON.stringify(claim.spec?.storageClassName)}: ${error instanceof Error ? error.message : String(error)}`;
        await context.carryOut(key, { actions: [tell("Warning", "ProvisioningFailed", message)] });
        throw error;
      }
      const create = createAction(resources.persistentVolumes, newVolume(snapshot, decision.volumeName, path), {
        onDone: () => [tell("Normal", "ProvisioningSucceeded", `Successfully provisioned volume ${decision.volumeName}`)],
        onError: (error) => ({ severity: isAlreadyExists(error) ? "ignore" : "stop" }),
      });
      return done(context.carryOut(key, { actions: [create] }));
    }
  }
}

async function reclaim(name: string, directories: VolumeDirectories, context: ControllerContext): Promise<void> {
  const volume = context.caches.of(resources.persistentVolumes).get("", name);
  if (volume === undefined) return;
  const decision = planVolume(volume);
  if (decision.kind === "none") return;
  if (decision.path !== undefined) await removeDirectory(decision.path, volume, directories, context);
  const onError = (error: Error) => ({ severity: isNotFound(error) ? ("ignore" as const) : ("stop" as const) });
  if (decision.kind === "delete") {
    await context.carryOut(name, { actions: [deleteAction(resources.persistentVolumes, volume, {}, { onError })] });
  } else {
    const finalizers = (volume.metadata.finalizers ?? []).filter((one) => one !== finalizer);
    const body = { metadata: { finalizers, resourceVersion: volume.metadata.resourceVersion } };
    await context.carryOut(name, { actions: [patchAction(resources.persistentVolumes, volume, { type: "merge", body }, { onError })] });
  }
}

async function removeDirectory(
  path: string,
  volume: DeepReadonly<PersistentVolume>,
  directories: VolumeDirectories,
  context: ControllerContext,
): Promise<void> {
  try {
    await directories.remove(path);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await context.carryOut(volume.metadata.name ?? "", {
      actions: [eventAction(referenceTo(resources.persistentVolumes, volume), { type: "Warning", reason: "VolumeFailedDelete", message })],
    });
    throw error;
  }
}

async function done(work: Promise<unknown>): Promise<void> {
  await work;
}
