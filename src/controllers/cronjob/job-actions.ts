import { deepCopy } from "../../apimachinery/json.ts";
import { isAlreadyExists, isNotFound } from "../../apimachinery/status.ts";
import { controllerReference, isNamespaceTerminating, referenceTo, resources } from "../../client/index.ts";
import { createAction, deleteAction, eventAction } from "../../operator/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { CronJob, CronJobStatus, Job } from "../../api/batch-v1/types.ts";
import type { Action } from "../../operator/index.ts";

/** The name of the Job for one time: the minutes since 1970 at its end. */
export function jobName({ metadata }: DeepReadonly<CronJob>, scheduledMs: number): string {
  return `${metadata.name}-${Math.floor(scheduledMs / 60_000)}`;
}

/** Makes the Job for one time. */
export function createJob(cronJob: DeepReadonly<CronJob>, { scheduledMs, timeZone }: { scheduledMs: number; timeZone: string }): Action {
  const template = cronJob.spec?.jobTemplate;
  const { labels, annotations } = template?.metadata ?? {};
  const job: Job = {
    metadata: {
      name: jobName(cronJob, scheduledMs),
      namespace: cronJob.metadata.namespace ?? "",
      ...(labels !== undefined && { labels: { ...labels } }),
      annotations: { ...annotations, [scheduledKey]: zonedText(scheduledMs, timeZone) },
      ownerReferences: [controllerReference(resources.cronJobs, cronJob)],
    },
    spec: deepCopy(template?.spec ?? { template: {} }) as NonNullable<Job["spec"]>,
  };
  return createAction(resources.jobs, job, {
    onDone: ({ metadata }) => [tell(cronJob, "Normal", "SuccessfulCreate", `Created job ${metadata.name}`)],
    onError: (error) =>
      isNamespaceTerminating(error) || isAlreadyExists(error)
        ? { severity: "ignore" }
        : { severity: "continue", actions: [tell(cronJob, "Warning", "FailedCreate", `Error creating job: ${error.message}`)] },
  });
}

/** `onFailure`: whether the rest of the plan may go on without the deletion. */
export function deleteJob(cronJob: DeepReadonly<CronJob>, job: DeepReadonly<Job>, onFailure: "continue" | "stop"): Action {
  const { name } = job.metadata;
  return deleteAction(
    resources.jobs,
    job,
    { propagationPolicy: "Background" },
    {
      onDone: () => [tell(cronJob, "Normal", "SuccessfulDelete", `Deleted job ${name}`)],
      onError: (error) =>
        isNotFound(error)
          ? { severity: "ignore" }
          : { severity: onFailure, actions: [tell(cronJob, "Warning", "FailedDelete", `Deleted job: ${error.message}`)] },
    },
  );
}

export function jobReference(job: DeepReadonly<Job>): NonNullable<CronJobStatus["active"]>[number] {
  return { ...referenceTo(resources.jobs, job) };
}

export function tell(cronJob: DeepReadonly<CronJob>, type: "Normal" | "Warning", reason: string, message: string): Action {
  return eventAction(referenceTo(resources.cronJobs, cronJob), { type, reason, message });
}

/** The time for which the controller made a Job; undefined for one that somebody else made. */
export function scheduledMsOf(cronJob: DeepReadonly<CronJob>, { metadata }: DeepReadonly<Job>): number | undefined {
  const scheduled = metadata.annotations?.[scheduledKey];
  if (scheduled === undefined) return undefined;
  const scheduledMs = Date.parse(scheduled);
  return metadata.name === jobName(cronJob, scheduledMs) ? scheduledMs : undefined;
}

const scheduledKey = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/** RFC 3339 with the zone's offset. */
function zonedText(ms: number, timeZone: string): string {
  const time = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
  return time.toString({ smallestUnit: "second", timeZoneName: "never" }).replace(/[+-]00:00$/, "Z");
}
