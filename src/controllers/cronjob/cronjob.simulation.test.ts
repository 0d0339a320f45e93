import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { ownedBy } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { CronJob, Job } from "../../api/batch-v1/types.ts";

for (const policy of ["Allow", "Forbid", "Replace"] as const) {
  /** Every minute a Job, of which some end: none is doubled or, once all is calm, missed that the policy does not keep back. */
  simulate(
    `a CronJob with ${policy} misses and doubles no run`,
    { controllers: ["cronjob-controller"], steps: 10, pauseMs: 60_000 },
    ({ cluster, client, random, state }) => {
      const runs = new Map<string, number>();
      const jobs = () => state.of<Job>("Job").filter((job) => ownedBy(job, "tick") && job.metadata.deletionTimestamp === undefined);
      const active = () => jobs().filter(({ status }) => !status?.conditions?.some(({ type }) => type === "Complete"));
      const complete = async () => {
        for (const { metadata, status } of active()) {
          const now = new Date(cluster.clock.nowMs()).toISOString().replace(/\.\d+/, "");
          const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True", lastTransitionTime: now }));
          const body = { status: { startTime: status?.startTime ?? now, completionTime: now, conditions } };
          await client.patch(resources.jobs, "default", metadata.name ?? "", { type: "merge", subresource: "status", body });
        }
      };
      let calmMs = 0;
      return {
        arrange() {
          const jobTemplate = { spec: { template: { spec: { restartPolicy: "Never" as const, containers: [{ name: "c", image: "a:1" }] } } } };
          return client.create(resources.cronJobs, {
            metadata: { namespace: "default", name: "tick" },
            spec: { schedule: "* * * * *", concurrencyPolicy: policy, successfulJobsHistoryLimit: 2, jobTemplate },
          } satisfies CronJob);
        },
        step: async () => {
          if (random.integer(2) === 0) await complete();
        },
        check({ kind, object, old }) {
          if (kind !== "Job" || object === undefined || old !== undefined) return;
          const minute = scheduledTime(object as DeepReadonly<Job>);
          assert.ok(!runs.has(minute), `${minute} has not run`);
          runs.set(minute, cluster.clock.nowMs());
          if (policy !== "Allow") assert.ok(active().length <= 1, `${active().length} active jobs`);
        },
        async settle() {
          await cluster.advance(120_000);
          calmMs = cluster.clock.nowMs();
          for (let minute = 0; minute < 5; minute++) {
            await complete();
            await cluster.advance(60_000);
          }
          await complete();
          await cluster.advance(20_000);
        },
        async reached() {
          assert.equal([...runs.values()].filter((atMs) => atMs > calmMs && atMs <= calmMs + 300_000).length, 5, "a run each minute");
          assert.equal(jobs().length - active().length, 2, "as many ended Jobs as are kept");
          const { status } = await client.get(resources.cronJobs, "default", "tick");
          assert.deepEqual(
            (status?.active ?? []).map(({ name }) => name).sort(),
            active()
              .map(({ metadata }) => metadata.name)
              .sort(),
          );
        },
      };
    },
  );
}

function scheduledTime({ metadata }: DeepReadonly<Job>): string {
  return metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"] ?? "";
}
