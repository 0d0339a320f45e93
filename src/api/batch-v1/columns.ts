/** Rows of jobs. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { age, containerCells, durationText, instantMs, nameOf, selectorText, since } from "../cells.ts";
import type { RowContext, TablePrinter } from "../table.ts";
import type { CronJob, Job } from "./types.ts";

export const cronJobColumns: TablePrinter<CronJob> = {
  cells(cronJob, context) {
    const { spec, status } = cronJob;
    const jobSpec = spec?.jobTemplate?.spec;
    return [
      nameOf(cronJob),
      spec?.schedule ?? "",
      spec?.timeZone ?? "<none>",
      spec?.suspend === undefined ? "<unset>" : spec.suspend ? "True" : "False",
      (status?.active ?? []).length,
      status?.lastScheduleTime === undefined ? "<none>" : since(status.lastScheduleTime, context),
      age(cronJob, context),
      ...containerCells(jobSpec?.template?.spec),
      selectorText(jobSpec?.selector),
    ];
  },
};

export const jobColumns: TablePrinter<Job> = {
  cells(job, context) {
    const { spec } = job;
    return [
      nameOf(job),
      jobStatus(job),
      completions(job),
      runningTime(job, context),
      age(job, context),
      ...containerCells(spec?.template?.spec),
      selectorText(spec?.selector),
    ];
  },
};

function jobStatus(job: DeepReadonly<Job>): string {
  const isTrue = (wanted: string) => job.status?.conditions?.some(({ type, status }) => type === wanted && status === "True") === true;
  const ended = ["Complete", "Failed"].find(isTrue);
  if (ended !== undefined) return ended;
  if (job.metadata.deletionTimestamp !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(isTrue) ?? "Running";
}

function completions({ spec, status }: DeepReadonly<Job>): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

/** From start to completion, or until now while it is not complete. */
function runningTime({ status }: DeepReadonly<Job>, context: RowContext): string {
  const startMs = instantMs(status?.startTime);
  return startMs === undefined ? "" : durationText((instantMs(status?.completionTime) ?? context.nowMs) - startMs);
}
