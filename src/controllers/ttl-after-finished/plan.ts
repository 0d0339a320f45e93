import { parseTime } from "../../apimachinery/time.ts";
import { resources } from "../../client/index.ts";
import { confirmAction, deleteAction, nothingToDo } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { jobCondition } from "../job/outcome.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Job } from "../../api/batch-v1/types.ts";
import type { Plan } from "../../operator/index.ts";

/** A finished Job is deleted, with all that it owns, `ttlSecondsAfterFinished` after its end (documentation page "TTL-after-finished Controller"). */
export function planExpiry({ job }: ExpirySnapshot, nowMs: number): Plan {
  const ttlSeconds = job.spec?.ttlSecondsAfterFinished;
  const end = jobCondition(job, "Complete") ?? jobCondition(job, "Failed");
  if (ttlSeconds === undefined || end === undefined || job.metadata.deletionTimestamp !== undefined) return nothingToDo;
  if (end.lastTransitionTime === undefined || end.lastTransitionTime === null) return nothingToDo;
  const leftMs = parseTime(end.lastTransitionTime) + ttlSeconds * 1000 - nowMs;
  if (leftMs > 0) return { actions: [], requeueAfterMs: leftMs };
  // Past the cache: it may have been made anew, or been given more time.
  return {
    actions: [
      confirmAction(resources.jobs, job),
      deleteAction(
        resources.jobs,
        job,
        {
          propagationPolicy: "Foreground",
          preconditions: {
            ...(job.metadata.uid !== undefined && { uid: job.metadata.uid }),
            ...(job.metadata.resourceVersion !== undefined && { resourceVersion: job.metadata.resourceVersion }),
          },
        },
        { onError: whenGone },
      ),
    ],
    reasons: [`finished ${ttlSeconds} s ago`],
  };
}

export interface ExpirySnapshot {
  readonly job: DeepReadonly<Job>;
}
