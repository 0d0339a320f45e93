import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTime } from "../../apimachinery/time.ts";
import { controllerReference, resources } from "../../client/index.ts";
import { jobName } from "./job-actions.ts";
import { planCronJob } from "./plan.ts";
import type { CronJob, Job } from "../../api/batch-v1/types.ts";

const noon = parseTime("2026-01-01T12:00:00Z");
const cronJob = (concurrencyPolicy: "Forbid" | "Replace"): CronJob => ({
  metadata: { namespace: "a", name: "tick", uid: "1", creationTimestamp: "2026-01-01T11:58:30Z" },
  spec: { schedule: "* * * * *", concurrencyPolicy, jobTemplate: { spec: { template: {} } } },
});

function running(owner: CronJob, atMs: number, annotations: Record<string, string>): Job {
  const metadata = { namespace: "a", name: jobName(owner, atMs), uid: "2", annotations, ownerReferences: [controllerReference(resources.cronJobs, owner)] };
  return { metadata };
}
const made = { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T11:59:00Z" };

test("a Job whose note in the status was lost still forbids the next one, and is noted", () => {
  const owner = cronJob("Forbid");
  const plan = planCronJob({ cronJob: owner, jobs: [running(owner, noon - 60_000, made)] }, noon + 100);
  assert.deepEqual(
    plan.actions.map((action) => (action.kind === "event" ? action.event.reason : action.kind)),
    ["UnexpectedJob", "JobAlreadyActive"],
  );
  const [update] = plan.next!({ results: [], failure: undefined, isStopped: false }).actions;
  const { status } = (update as unknown as { object: CronJob }).object;
  assert.deepEqual([status?.active?.map(({ name }) => name), status?.lastScheduleTime], [[jobName(owner, noon - 60_000)], "2026-01-01T11:59:00Z"]);
});

test("a Job that somebody else made for it does not count", () => {
  const owner = cronJob("Forbid");
  const plan = planCronJob({ cronJob: owner, jobs: [running(owner, noon - 60_000, {})] }, noon + 100);
  assert.deepEqual(
    plan.actions.map((action) => (action.kind === "event" ? action.event.reason : action.kind)),
    ["UnexpectedJob", "create"],
  );
});

test("a Job is not replaced before it is gone", () => {
  const owner = cronJob("Replace");
  const { actions } = planCronJob({ cronJob: owner, jobs: [running(owner, noon - 60_000, made)] }, noon + 100);
  const [, deletion, create] = actions;
  assert.ok(deletion?.kind === "delete" && create?.kind === "create");
  assert.equal(typeof deletion.onError === "function" && deletion.onError(new Error("no")).severity, "stop");
});
