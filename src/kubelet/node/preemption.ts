/** Which pods give way to a critical one that the node has no room for (documentation page "Guaranteed Scheduling For Critical Add-On Pods"). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { isCriticalPod } from "../eviction/ranking.ts";
import { podRequests } from "../resources/pod-requests.ts";
import { amountOf } from "./admission.ts";
import type { Shortage } from "./admission.ts";

export type Preemption =
  | { readonly outcome: "victims"; readonly victims: readonly DeepReadonly<Pod>[] }
  /** Not even all that may be ended would be enough; `message` as Kubernetes tells it. */
  | { readonly outcome: "hopeless"; readonly message: string };

/** The pods to end: as few as do, of the lower classes of service first, and of those alike the ones that ask for less. */
export function planPreemption(pod: DeepReadonly<Pod>, shortages: readonly Shortage[], others: readonly DeepReadonly<Pod>[]): Preemption {
  const candidates = others.filter((other) => givesWay(other, pod));
  const left = remaining(shortages, candidates);
  if (left.length > 0) {
    const listed = left.map(({ resource, missing }) => `(res: ${resource}, q: ${missing}), `).join("");
    return { outcome: "hopeless", message: `no set of running pods found to reclaim resources: [${listed}]` };
  }
  const ofClass = (qosClass: string) => candidates.filter(({ status }) => (status?.qosClass ?? "BestEffort") === qosClass);
  const [bestEffort, burstable] = [ofClass("BestEffort"), ofClass("Burstable")];
  // Of a higher class only what the lower ones together do not give.
  const guaranteed = choose(ofClass("Guaranteed"), remaining(shortages, [...bestEffort, ...burstable]));
  const some = choose(burstable, remaining(shortages, [...bestEffort, ...guaranteed]));
  const few = choose(bestEffort, remaining(shortages, [...some, ...guaranteed]));
  return { outcome: "victims", victims: [...few, ...some, ...guaranteed] };
}

function givesWay(other: DeepReadonly<Pod>, pod: DeepReadonly<Pod>): boolean {
  return !isCriticalPod(other) || (other.spec?.priority ?? 0) < (pod.spec?.priority ?? 0);
}

type Missing = Pick<Shortage, "resource" | "missing">;

function remaining(shortages: readonly Missing[], ended: readonly DeepReadonly<Pod>[]): Missing[] {
  return shortages
    .map(({ resource, missing }) => ({ resource, missing: ended.reduce((left, pod) => left - given(pod, resource), missing) }))
    .filter(({ missing }) => missing > 0);
}

/** What the node gets back of a resource when the pod ends. */
function given(pod: DeepReadonly<Pod>, resource: string): number {
  if (resource === "pods") return 1;
  const amount = podRequests(pod)[resource];
  return amount === undefined ? 0 : amountOf(resource, amount);
}

/** One after the other, each time the pod that leaves least to be found. */
function choose(pods: readonly DeepReadonly<Pod>[], shortages: readonly Missing[]): DeepReadonly<Pod>[] {
  const chosen: DeepReadonly<Pod>[] = [];
  for (let left = remaining(shortages, []); left.length > 0; left = remaining(shortages, chosen)) {
    const now = left;
    const ranked = pods
      .filter((pod) => !chosen.includes(pod))
      .map((pod) => ({ pod, rest: restShare(pod, now), memory: given(pod, "memory"), cpu: given(pod, "cpu") }))
      .toSorted((a, b) => a.rest - b.rest || a.memory - b.memory || a.cpu - b.cpu);
    if (ranked.length === 0) break;
    chosen.push(ranked[0]!.pod);
  }
  return chosen;
}

/** How much would still be missing without the pod: squares of shares, so that one great gap counts more than several small ones. */
function restShare(pod: DeepReadonly<Pod>, shortages: readonly Missing[]): number {
  return shortages.reduce((sum, { resource, missing }) => sum + Math.max(0, (missing - given(pod, resource)) / missing) ** 2, 0);
}
