import { parseTime } from "../../apimachinery/time.ts";
import { exponentialBuckets } from "../../base/metrics.ts";
import { isTracked } from "../job/job-pod.ts";
import { isJobFinished, jobCondition } from "../job/outcome.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Job } from "../../api/batch-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import type { ActionResult, ReconcileRecord } from "../../operator/index.ts";
import type { JobSnapshot } from "../job/plan.ts";

/** Counts Jobs and CronJobs under the names that Kubernetes declares as stable (reference page "Kubernetes Metrics"), from the passes of their controllers. */
export function workloadMetrics(registry: MetricRegistry): (record: ReconcileRecord) => void {
  const onJob = jobMetrics(registry);
  const onCronJob = cronJobMetrics(registry);
  return (record) => {
    if (record.controller === "job-controller") onJob(record);
    else if (record.controller === "cronjob-controller") onCronJob(record);
  };
}

function jobMetrics(registry: MetricRegistry): (record: ReconcileRecord) => void {
  const syncs = registry.counter("job_controller_job_syncs_total", "The number of job syncs", ["completion_mode", "result", "action"]);
  const seconds = registry.histogram("job_controller_job_sync_duration_seconds", "The time it took to sync a job", exponentialBuckets(0.004, 2, 15), [
    "completion_mode",
    "result",
    "action",
  ]);
  const finished = registry.counter("job_controller_jobs_finished_total", "The number of finished jobs", ["completion_mode", "result", "reason"]);
  const podsFinished = registry.counter("job_controller_job_pods_finished_total", "The number of finished Pods that are fully tracked", [
    "completion_mode",
    "result",
  ]);
  return ({ snapshot, outcome, durationMs }) => {
    const { job } = snapshot as JobSnapshot;
    if (job === undefined || isJobFinished(job)) return;
    const mode = job.spec?.completionMode ?? "NonIndexed";
    const labels = [mode, outcome.failure === undefined ? "success" : "error", syncAction(outcome.results)];
    syncs.add(1, ...labels);
    seconds.observe(durationMs / 1000, ...labels);
    for (const result of outcome.results) {
      if (result.status !== "done" || result.object === undefined) continue;
      if (result.action.kind === "update") countEnd(result.object as DeepReadonly<Job>);
      if (result.action.kind === "patch") countPod(result.object as DeepReadonly<Pod>);
    }

    function countEnd(updated: DeepReadonly<Job>): void {
      const failed = jobCondition(updated, "Failed");
      if (isJobFinished(updated))
        finished.add(1, mode, failed === undefined ? "succeeded" : "failed", (failed ?? jobCondition(updated, "Complete"))?.reason ?? "");
    }
    function countPod(pod: DeepReadonly<Pod>): void {
      const phase = pod.status?.phase;
      if (!isTracked(pod) && (phase === "Succeeded" || phase === "Failed")) podsFinished.add(1, mode, phase.toLowerCase());
    }
  };
}

/** What a sync did, in Kubernetes' words. */
function syncAction(results: readonly ActionResult[]): string {
  if (results.some(({ action }) => action.kind === "create")) return "pods_created";
  if (results.some(({ action }) => action.kind === "delete")) return "pods_deleted";
  return "tracking";
}

function cronJobMetrics(registry: MetricRegistry): (record: ReconcileRecord) => void {
  const help = "Time between when a cronjob is scheduled to be run, and when the corresponding job is created";
  const skew = registry.histogram("cronjob_controller_job_creation_skew_duration_seconds", help, exponentialBuckets(1, 2, 10));
  return ({ outcome }) => {
    for (const result of outcome.results) {
      if (result.status !== "done" || result.action.kind !== "create" || result.object === undefined) continue;
      const { annotations, creationTimestamp } = result.object.metadata;
      const scheduled = annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"];
      if (scheduled !== undefined && typeof creationTimestamp === "string") skew.observe((parseTime(creationTimestamp) - parseTime(scheduled)) / 1000);
    }
  };
}
