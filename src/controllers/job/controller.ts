import { selectorFromObject } from "../../apimachinery/selectors/label-selector.ts";
import { controllerOf, keyOf, resources, splitKey } from "../../client/index.ts";
import { defineController, ownKey, watch } from "../../operator/index.ts";
import { claimCandidates, ownerIndex } from "../ownership/owner-index.ts";
import { ownerKeys } from "../ownership/owner-keys.ts";
import { isTracked } from "./job-pod.ts";
import { planJob } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Caches, Controller } from "../../operator/index.ts";
import type { JobSnapshot } from "./plan.ts";

/** Runs Jobs. Keys are Jobs, and `pod NAMESPACE/NAME` for pods that a Job held and that belong to none. */
export function jobController(options: { readonly workers?: number } = {}): Controller {
  const ownerJobs = ownerKeys(resources.jobs, ({ spec }) => selectorFromObject(spec?.selector));
  return defineController<JobSnapshot>({
    name: "job-controller",
    workers: options.workers ?? 5,
    backoff: { baseMs: 1000, maxMs: 60_000 },
    watches: [
      watch(resources.jobs, { keys: ownKey }),
      watch(resources.pods, { keys: ownerJobs, indexes: { ...ownerIndex, jobName: jobNameOf } }),
      watch(resources.pods, { keys: strayKey }),
    ],
    snapshot(key, caches) {
      if (key.startsWith(strayPrefix)) return straySnapshot(splitKey(key.slice(strayPrefix.length)), caches);
      const { namespace, name } = splitKey(key);
      const job = caches.of(resources.jobs).get(namespace, name);
      const pods = caches.of(resources.pods);
      if (job !== undefined) return { job, candidates: claimCandidates(pods, job) };
      return { job, candidates: pods.byIndex("jobName", key) };
    },
    plan: planJob,
  });
}

const strayPrefix = "pod ";

/** A pod that still has the tracking finalizer but no managing owner. */
function strayKey(pod: DeepReadonly<Pod>): readonly string[] {
  return isTracked(pod) && controllerOf(pod) === undefined ? [`${strayPrefix}${keyOf(pod)}`] : [];
}

function straySnapshot({ namespace, name }: { namespace: string; name: string }, caches: Caches): JobSnapshot | undefined {
  const pod = caches.of(resources.pods).get(namespace, name);
  if (pod === undefined || strayKey(pod).length === 0) return undefined;
  const jobs = caches.of(resources.jobs).list(namespace);
  // One that a Job is about to adopt is not astray.
  const isWanted = jobs.some((job) => job.metadata.deletionTimestamp === undefined && ownsByLabels(job.metadata.uid, pod));
  return isWanted ? undefined : { job: undefined, candidates: [pod] };
}

function ownsByLabels(jobUid: string | undefined, { metadata }: DeepReadonly<Pod>): boolean {
  return jobUid !== undefined && metadata.labels?.["batch.kubernetes.io/controller-uid"] === jobUid;
}

function jobNameOf(pod: DeepReadonly<Pod>): readonly string[] {
  const owner = controllerOf(pod);
  return owner?.kind === "Job" ? [`${pod.metadata.namespace}/${owner.name}`] : [];
}
