import assert from "node:assert/strict";
import { parseTime } from "../../apimachinery/time.ts";
import { resources } from "../../client/index.ts";
import { podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import { formatTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Job } from "../../api/batch-v1/types.ts";

const setting = { controllers: ["ttl-after-finished-controller"], nodes: [], steps: 16 };

/** Jobs end and get another time to live: each goes when its time has come, not before, and those without one stay. */
simulate("ended Jobs go when their time has come", setting, ({ cluster, client, random, state }) => {
  let born = 0;
  const jobs = () => state.of<Job>("Job").filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const ttl = () => someOf(random, [undefined, 0, 10, 30])!;
  const create = () => {
    const seconds = ttl();
    const spec = { ...(seconds !== undefined && { ttlSecondsAfterFinished: seconds }), template: podTemplate("a:1", "Never") };
    return client.create(resources.jobs, { metadata: { namespace: "default", name: `j${++born}` }, spec });
  };
  const dueMs = ({ spec, status }: DeepReadonly<Job>) =>
    status?.completionTime === undefined
      ? Number.POSITIVE_INFINITY
      : parseTime(status.completionTime) + (spec?.ttlSecondsAfterFinished ?? Number.POSITIVE_INFINITY) * 1000;
  return {
    async arrange() {
      for (let count = 0; count < 3; count++) await create();
    },
    async step() {
      const job = someOf(random, jobs());
      const name = job?.metadata.name ?? "";
      const choice = random.integer(4);
      if (choice === 0 || job === undefined) await create();
      else if (choice === 1) await client.patch(resources.jobs, "default", name, { type: "merge", body: { spec: { ttlSecondsAfterFinished: ttl() ?? null } } });
      else if (job.status?.completionTime === undefined) {
        const now = formatTime(cluster.clock.nowMs());
        const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True", lastTransitionTime: now }));
        const body = { status: { startTime: now, completionTime: now, conditions } };
        await client.patch(resources.jobs, "default", name, { type: "merge", subresource: "status", body });
      }
    },
    check({ kind, object, old }) {
      if (kind !== "Job" || old === undefined || old.metadata.deletionTimestamp !== undefined) return;
      if (object !== undefined && object.metadata.deletionTimestamp === undefined) return;
      assert.ok(dueMs(old as Job) <= cluster.clock.nowMs(), `${old.metadata.name} goes when its time has come`);
    },
    async reached() {
      for (const job of jobs()) assert.equal(dueMs(job), Number.POSITIVE_INFINITY, `${job.metadata.name} has no time to go`);
    },
  };
});
