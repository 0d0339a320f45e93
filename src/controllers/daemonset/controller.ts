import { backoffMs } from "../../base/backoff.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import { selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import { controllerOf, keyOf, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { claimCandidates, ownerIndex } from "../ownership/owner-index.ts";
import { ownerKeys } from "../ownership/owner-keys.ts";
import { onNode } from "../pods/node-index.ts";
import { fitOf } from "./daemon-pod.ts";
import { planDaemonSet } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { DaemonSet } from "../../api/apps-v1/types.ts";
import type { Caches, Controller } from "../../operator/index.ts";

/** Keeps the pods of DaemonSets. Keys are DaemonSets. */
export function daemonSetController(options: { readonly workers?: number } = {}): Controller {
  const selectorOf = ({ spec }: DeepReadonly<DaemonSet>) => selectorFromObject(spec?.selector);
  const kills = new Kills();
  return defineController({
    name: "daemonset-controller",
    account: "daemon-set-controller",
    eventSource: "daemonset-controller",
    workers: options.workers ?? 2,
    watches: [
      watch(resources.daemonSets, { keys: ownKey }),
      watch(resources.controllerRevisions, { keys: ownerKeys(resources.daemonSets, selectorOf), indexes: ownerIndex }),
      watch(resources.pods, { keys: ownerKeys(resources.daemonSets, selectorOf), indexes: { ...ownerIndex, ...onNode } }),
      // A node that goes takes its pods with it by the garbage collection of pods.
      watch(resources.nodes, {
        keys: (node, caches) => setsToPlace(node.metadata.name ?? "", caches),
        isRelevant: ({ kind, object, old }) =>
          kind === "add" || (kind === "update" && (!deepEqual(object.metadata.labels, old.metadata.labels) || !deepEqual(object.spec, old.spec))),
      }),
    ],
    async reconcile(key, context) {
      const { namespace, name } = splitKey(key);
      const { caches, clock } = context;
      const set = caches.of(resources.daemonSets).get(namespace, name);
      if (set === undefined) return;
      const nowMs = clock.nowMs();
      const snapshot = {
        set,
        pods: claimCandidates(caches.of(resources.pods), set),
        revisions: claimCandidates(caches.of(resources.controllerRevisions), set),
        namesake: (wanted: string) => caches.of(resources.controllerRevisions).get(namespace, wanted),
        nodes: caches.of(resources.nodes).list(),
        killDelayMs: (node: string) => kills.delayMs(`${set.metadata.uid} ${node}`, nowMs),
      };
      await context.carryOut(key, planDaemonSet(snapshot, nowMs));
    },
  });
}

/** The sets that have no pod on a node though they may, or have one though they may not. */
function setsToPlace(nodeName: string, caches: Caches): readonly string[] {
  const node = caches.of(resources.nodes).get("", nodeName);
  if (node === undefined) return [];
  const owners = new Set(
    caches
      .of(resources.pods)
      .byIndex("node", nodeName)
      .map((pod) => controllerOf(pod)?.uid),
  );
  const sets = caches.of(resources.daemonSets).list();
  return sets.filter((set) => (owners.has(set.metadata.uid) ? !fitOf(set, node).mayStay : fitOf(set, node).mayStart)).map(keyOf);
}

/** How often a node's pod was killed for having finished: the next one waits longer, until a while has passed without. */
class Kills {
  readonly #last = new Map<string, { count: number; atMs: number }>();

  /** 0: it may be killed now, and counts. */
  delayMs(key: string, nowMs: number): number {
    const last = this.#last.get(key);
    const pauseMs = last === undefined ? 0 : backoffMs(killBackoff, last.count);
    if (last !== undefined && nowMs < last.atMs + pauseMs) return last.atMs + pauseMs - nowMs;
    const isForgiven = last === undefined || nowMs > last.atMs + 2 * killBackoff.maxMs;
    this.#last.set(key, { count: isForgiven ? 1 : last.count + 1, atMs: nowMs });
    return 0;
  }
}

const killBackoff = { baseMs: 1000, maxMs: 900_000 };
