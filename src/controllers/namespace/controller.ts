import { deepEqual } from "../../apimachinery/json.ts";
import { isNotFound } from "../../apimachinery/status.ts";
import { edited, resources } from "../../client/index.ts";
import { defineController, namespaceKey, ownKey, watch } from "../../operator/index.ts";
import { deletionConditions } from "./conditions.ts";
import { deleteContent } from "./content.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Namespace } from "../../api/core-v1/types.ts";
import type { Controller, ControllerContext } from "../../operator/index.ts";

/**
 * Empties namespaces that are being deleted, tells of it in their conditions, and lets them go when nothing is left. Keys are namespaces.
 * What holds objects up (finalizers, pods that end slowly) is looked at again after a while, since it can be of any resource.
 */
export function namespaceController(options: { readonly workers?: number; readonly graceMs?: number } = {}): Controller {
  return defineController({
    name: "namespace-controller",
    workers: options.workers ?? 10,
    backoff: { baseMs: 5, maxMs: 60_000 },
    watches: [
      // A moment of grace, so that caches of others learn first that the namespace is going.
      watch(resources.namespaces, {
        keys: ownKey,
        isRelevant: ({ object }) => object.metadata.deletionTimestamp !== undefined,
        delayMs: options.graceMs ?? defaultGraceMs,
      }),
      watch(resources.pods, { keys: namespaceKey, isRelevant: ({ kind }) => kind === "delete", delayMs: podPauseMs }),
    ],
    async reconcile(name, context) {
      const cached = context.caches.of(resources.namespaces).get("", name);
      if (cached?.metadata.deletionTimestamp === undefined) return;
      await emptyNamespace(name, context);
    },
  });
}

const defaultGraceMs = 5000;
/** Pods that go together are looked at together. */
const podPauseMs = 500;
/** What finalizers are given, halved, before the next look. */
const pauseMs = 8000;

async function emptyNamespace(name: string, context: ControllerContext): Promise<void> {
  const { client, clock, queue, signal } = context;
  let namespace = await current(name, context);
  if (namespace?.metadata.deletionTimestamp === undefined) return;
  if (namespace.status?.phase !== "Terminating") {
    namespace = await client.updateStatus(resources.namespaces, withPhase(namespace), { signal });
    context.noteWrite(name, resources.namespaces, namespace);
  }
  if ((namespace.spec?.finalizers ?? []).length === 0 || !namespace.spec?.finalizers?.includes(ownFinalizer)) return;
  const findings = await deleteContent(client, name, signal);
  const conditions = deletionConditions(namespace.status?.conditions ?? [], findings, clock.nowMs());
  if (!deepEqual(conditions, namespace.status?.conditions ?? [])) {
    const updated = edited<Namespace>(namespace as DeepReadonly<Namespace>, (draft) => {
      draft.status = { ...draft.status, conditions };
    });
    namespace = await client.updateStatus(resources.namespaces, updated, { signal });
    context.noteWrite(name, resources.namespaces, namespace);
  }
  if (findings.contentFaults.length > 0) throw new Error(findings.contentFaults.join("; "));
  if (findings.discoveryFault !== undefined) throw new Error(findings.discoveryFault);
  if (findings.remaining.size > 0) return queue.addAfter(name, pauseMs);
  await finalize(namespace, context);
}

/** Past the cache: content must not be deleted for a namespace that was made anew. */
async function current(name: string, { client, signal }: ControllerContext): Promise<Namespace | undefined> {
  try {
    return await client.get(resources.namespaces, "", name, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function withPhase(namespace: Namespace): Namespace {
  return edited<Namespace>(namespace as DeepReadonly<Namespace>, (draft) => {
    draft.status = { ...draft.status, phase: "Terminating" };
  });
}

async function finalize(namespace: Namespace, { client, signal }: ControllerContext): Promise<void> {
  const finalized = edited<Namespace>(namespace as DeepReadonly<Namespace>, (draft) => {
    draft.spec = { finalizers: (draft.spec?.finalizers ?? []).filter((finalizer) => finalizer !== ownFinalizer) };
  });
  try {
    await client.update(resources.namespaces, finalized, { subresource: "finalize", signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

const ownFinalizer = "kubernetes";
