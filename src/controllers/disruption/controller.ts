import { formatTime, parseTime } from "../../apimachinery/time.ts";
import { matchesLabels, selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import { keyOf, resources, splitKey } from "../../client/index.ts";
import type { Change } from "../../client/index.ts";
import { defineController, ownKey, patchAction, watch } from "../../operator/index.ts";
import { ownedBy, ownerIndex } from "../ownership/owner-index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { conditionPatch } from "../pods/condition-patch.ts";
import { isReady, podCondition } from "../pods/pod-state.ts";
import { planBudget } from "./plan.ts";
import { PodScaleFinder } from "./pod-scales.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Caches, Controller, ControllerContext } from "../../operator/index.ts";

/** Keeps the status of PodDisruptionBudgets. Keys are those, and `pod NAMESPACE/NAME` for pods that were to be disrupted and were not. */
export function disruptionController(): Controller {
  const scales = new PodScaleFinder();
  const budgetsOfPods = (pods: readonly DeepReadonly<Pod>[], caches: Caches) => [...new Set(pods.flatMap((pod) => budgetsOf(pod, caches)))];
  const budgetsOfOwned = (owner: DeepReadonly<KubeObject>, caches: Caches) => budgetsOfPods(ownedBy(caches.of(resources.pods), owner), caches);
  return defineController({
    name: "disruption-controller",
    eventSource: "controllermanager",
    workers: 1,
    watches: [
      watch(resources.podDisruptionBudgets, { keys: ownKey }),
      watch(resources.pods, {
        keys: budgetsOf,
        indexes: ownerIndex,
        isRelevant: ({ object, old }) =>
          old === undefined ||
          isReady(object) !== isReady(old) ||
          object.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
          !deepEqual(object.metadata.labels, old.metadata.labels),
      }),
      watch(resources.pods, { keys: (pod) => (isStale(pod) ? [`${podPrefix}${keyOf(pod)}`] : []) }),
      watch(resources.replicationControllers, { keys: budgetsOfOwned, isRelevant: isScaled }),
      watch(resources.statefulSets, { keys: budgetsOfOwned, isRelevant: isScaled }),
      watch(resources.replicaSets, { keys: budgetsOfOwned, isRelevant: isScaled, indexes: ownerIndex }),
      watch(resources.deployments, {
        keys: (deployment, caches) =>
          caches
            .of(resources.replicaSets)
            .byIndex("owner", deployment.metadata.uid ?? "")
            .flatMap((replicaSet) => budgetsOfOwned(replicaSet, caches)),
        isRelevant: isScaled,
      }),
    ],
    async reconcile(key, context) {
      if (key.startsWith(podPrefix)) return dropStaleTarget(key, context);
      const { namespace, name } = splitKey(key);
      const budget = context.caches.of(resources.podDisruptionBudgets).get(namespace, name);
      if (budget === undefined) return;
      const selector = selectorFromObject(budget.spec?.selector);
      const pods = context.caches
        .of(resources.pods)
        .list(namespace)
        .filter(({ metadata }) => matchesLabels(selector, metadata.labels));
      await context.carryOut(key, planBudget({ budget, pods, scales: await scales.find(pods, context) }, context.clock.nowMs()));
    },
  });
}

const podPrefix = "pod ";
/** So long a pod keeps saying that it is about to be disrupted. */
const stalePatienceMs = 120_000;

/** Of an owner's changes only its size counts: its pods tell the rest themselves. */
function isScaled({ object, old }: Change<KubeObject & { readonly spec?: { readonly replicas?: number } }>): boolean {
  return old?.spec?.replicas !== object.spec?.replicas;
}

function budgetsOf(pod: DeepReadonly<Pod>, caches: Caches): readonly string[] {
  const budgets = caches.of(resources.podDisruptionBudgets).list(pod.metadata.namespace ?? "");
  return budgets.filter(({ spec }) => matchesLabels(selectorFromObject(spec?.selector), pod.metadata.labels)).map(keyOf);
}

function isStale(pod: DeepReadonly<Pod>): boolean {
  const condition = podCondition(pod, "DisruptionTarget");
  return condition?.status === "True" && pod.metadata.deletionTimestamp === undefined && pod.status?.phase !== "Failed" && pod.status?.phase !== "Succeeded";
}

/** A pod that was to be disrupted and is still there is not to be any more. */
async function dropStaleTarget(key: string, { caches, clock, carryOut }: ControllerContext): Promise<void> {
  const { namespace, name } = splitKey(key.slice(podPrefix.length));
  const pod = caches.of(resources.pods).get(namespace, name);
  if (pod === undefined || !isStale(pod)) return;
  const condition = podCondition(pod, "DisruptionTarget")!;
  const nowMs = clock.nowMs();
  const leftMs = parseTime(condition.lastTransitionTime ?? formatTime(nowMs)) + stalePatienceMs - nowMs;
  if (leftMs > 0) return void (await carryOut(key, { actions: [], requeueAfterMs: leftMs }));
  const { reason: _reason, message: _message, ...kept } = condition;
  const patch = conditionPatch(pod, { ...kept, status: "False", lastTransitionTime: formatTime(nowMs) });
  await carryOut(key, { actions: [patchAction(resources.pods, pod, patch, { subresource: "status", onError: whenGone })] });
}
