import { parseTime } from "../../apimachinery/time.ts";
import { keyOf, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import { taintsOf } from "../nodes/node-conditions.ts";
import { onNode } from "../pods/node-index.ts";
import { planEviction, toleratedMs } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, Pod, Taint } from "../../api/core-v1/types.ts";
import type { Controller } from "../../operator/index.ts";

/** Moves pods away from nodes whose NoExecute taints they do not tolerate. Keys are pods. */
export function taintEvictionController(options: { readonly workers?: number } = {}): Controller {
  const waiting = new Waiting();
  return defineController({
    name: "taint-eviction-controller",
    account: "node-controller",
    eventSource: "taint-eviction-controller",
    workers: options.workers ?? 8,
    watches: [
      watch(resources.pods, {
        keys: ownKey,
        indexes: onNode,
        isRelevant: ({ object, old }) =>
          old === undefined || old.spec?.nodeName !== object.spec?.nodeName || !deepEqual(old.spec?.tolerations, object.spec?.tolerations),
      }),
      watch(resources.nodes, {
        keys: (node, caches) =>
          caches
            .of(resources.pods)
            .byIndex("node", node.metadata.name ?? "")
            .map(keyOf),
        isRelevant: ({ object, old }) => (old === undefined ? evictionTaints(object).length > 0 : !deepEqual(evictionTaints(object), evictionTaints(old))),
      }),
    ],
    async reconcile(key, context) {
      const { namespace, name } = splitKey(key);
      const nowMs = context.clock.nowMs();
      const pod = context.caches.of(resources.pods).get(namespace, name);
      const node = pod?.spec?.nodeName === undefined ? undefined : context.caches.of(resources.nodes).get("", pod.spec.nodeName);
      const taints = node === undefined ? [] : evictionTaints(node);
      if (pod === undefined || taints.length === 0) {
        if (!waiting.forget(key) || pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
        const message = `Cancelling deletion of Pod ${key}`;
        const reference = { kind: "Pod", apiVersion: "v1", namespace, name, uid: pod.metadata.uid ?? "" };
        return context.events.record(reference, { type: "Normal", reason: "TaintManagerEviction", message });
      }
      const sinceMs = waiting.since(key, pod, taints, nowMs);
      const { requeueAfterMs } = await context.carryOut(key, planEviction({ pod, taints, sinceMs }, nowMs));
      if (requeueAfterMs === undefined) waiting.forget(key);
    },
  });
}

/** Since when pods have been where they are not to stay: told by the taints' times, remembered where these have none. */
class Waiting {
  readonly #seenMs = new Map<string, number>();

  since(key: string, pod: DeepReadonly<Pod>, taints: readonly DeepReadonly<Taint>[], nowMs: number): number {
    if (toleratedMs(pod.spec?.tolerations ?? [], taints) === Number.POSITIVE_INFINITY) return nowMs;
    const seenMs = this.#seenMs.get(key) ?? nowMs;
    this.#seenMs.set(key, seenMs);
    const addedMs = taints.map(({ timeAdded }) => (timeAdded === undefined ? undefined : parseTime(timeAdded)));
    if (addedMs.includes(undefined)) return seenMs;
    const createdMs = parseTime(pod.metadata.creationTimestamp ?? "1970-01-01T00:00:00Z");
    return Math.min(nowMs, Math.max(createdMs, ...(addedMs as number[])));
  }

  /** Whether the pod was waited for. */
  forget(key: string): boolean {
    return this.#seenMs.delete(key);
  }
}

function evictionTaints(node: DeepReadonly<Node>): readonly DeepReadonly<Taint>[] {
  return taintsOf(node).filter(({ effect }) => effect === "NoExecute");
}
