import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import type { RuleContext } from "../strategy.ts";
import { jobs } from "./job.ts";
import type { Job, JobSpec, JobStatus } from "./types.ts";

const context = {
  isEnabled: () => false,
  settings: { allowPrivileged: true, serviceCidrs: [], nodePortRange: { first: 30000, last: 32767 } },
} as unknown as RuleContext;

function made(spec: Partial<JobSpec>, labels?: Record<string, string>): Job {
  const template = { ...(labels && { metadata: { labels } }), spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
  const job: Job = { metadata: { name: "x", uid: "u" }, spec: { template, ...spec } };
  jobs.defaults!(job, 0);
  jobs.create.prepare!(job, context);
  return job;
}

test("a job selects its pods by its uid", () => {
  const job = made({}, { mine: "yes" });
  assert.deepEqual(job.spec!.selector, { matchLabels: { "batch.kubernetes.io/controller-uid": "u" } });
  assert.deepEqual(job.metadata.labels, {
    mine: "yes",
    "controller-uid": "u",
    "job-name": "x",
    "batch.kubernetes.io/controller-uid": "u",
    "batch.kubernetes.io/job-name": "x",
  });
  assert.deepEqual(jobs.create.validate!(job, context), []);
});

test("faults of new jobs", () => {
  const table: [spec: Partial<JobSpec>, faults: string[]][] = [
    [{ completionMode: "Indexed" }, []],
    [{ backoffLimitPerIndex: 1 }, ["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"]],
    [
      { manualSelector: true },
      ["spec.selector: Required value", "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"],
    ],
    [
      { podFailurePolicy: { rules: [{ action: "Ignore" }] } },
      ["spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required"],
    ],
  ];
  for (const [spec, expected] of table) assert.deepEqual(jobs.create.validate!(made(spec), context).map(fieldErrorText), expected, JSON.stringify(spec));
});

test("the template changes only while a job is suspended", () => {
  const changed = (job: Job) => ({
    ...job,
    spec: { ...job.spec!, template: { ...job.spec!.template, spec: { ...job.spec!.template.spec!, nodeSelector: { a: "b" } } } },
  });
  const suspended = made({ suspend: true });
  const running = made({});
  assert.deepEqual(jobs.update.validate!(changed(suspended), suspended, context), []);
  assert.deepEqual(
    jobs.update.validate!(changed(running), running, context).map(({ field }) => field),
    ["spec.template"],
  );
});

test("statuses that do not fit", () => {
  const job = made({});
  const faults = (status: JobStatus, old: JobStatus = {}) => jobs.status!.validate!({ ...job, status }, { ...job, status: old }, context).map(fieldErrorText);
  const complete = [{ type: "Complete", status: "True" }];
  assert.deepEqual(faults({ active: 1, ready: 2 }), ["status.ready: Invalid value: 2: cannot set more ready pods than active"]);
  assert.deepEqual(faults({ failed: 0 }, { failed: 1 }), ["status.failed: Invalid value: 0: cannot decrease the failed counter"]);
  assert.deepEqual(faults({ conditions: complete }), [
    "status.completionTime: Required value: completionTime is required for Complete jobs",
    "status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
    "status.startTime: Required value: startTime is required for finished job",
  ]);
});

test("a name that cannot be a label is told once", () => {
  const name = "j".repeat(64);
  const job: Job = { metadata: { name, uid: "u" }, spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } } };
  jobs.defaults!(job, 0);
  jobs.create.prepare!(job, context);
  const faults = jobs.create.validate!(job, context).map(fieldErrorText);
  assert.deepEqual(
    faults.filter((text) => text.startsWith("spec.template.labels")),
    [`spec.template.labels: Invalid value: "${name}": must be no more than 63 bytes`],
  );
});
