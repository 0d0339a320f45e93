import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { isLive, ownedBy, podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { Recent } from "../../testing/simulation/recent.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import { isTracked } from "./job-pod.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Job } from "../../api/batch-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";

/** Pods end well or badly or are deleted while the Job's width changes: it counts each once, runs no more than it may, and lets go of all of them. */
simulate("a Job counts every pod once", { controllers: ["job-controller"], steps: 12 }, ({ cluster, client, random, state, unknownCreates }) => {
  const completions = 4;
  const parallelism = new Recent(cluster.clock);
  const pods = () => state.of<Pod>("Pod").filter((pod) => ownedBy(pod, "sum"));
  const ended = { succeeded: new Set<string>(), failed: new Set<string>() };
  const end = (pod: DeepReadonly<Pod>, phase: "Succeeded" | "Failed") =>
    client.patch(resources.pods, "default", pod.metadata.name ?? "", {
      type: "merge",
      subresource: "status",
      body: { metadata: { uid: pod.metadata.uid }, status: { phase } },
    });
  const isRunning = (pod: DeepReadonly<Pod>) => isLive(pod) && pod.status?.phase === "Running";
  return {
    arrange() {
      const spec = { completions, parallelism: parallelism.set(2), backoffLimit: 1000, template: podTemplate("a:1", "Never") };
      return client.create(resources.jobs, { metadata: { namespace: "default", name: "sum" }, spec } satisfies Job);
    },
    async step() {
      const pod = someOf(random, pods().filter(isRunning));
      const choice = random.integer(5);
      if (choice === 0)
        return client.patch(resources.jobs, "default", "sum", { type: "merge", body: { spec: { parallelism: parallelism.set(random.integer(4)) } } });
      if (pod === undefined) return;
      if (choice === 1) return client.delete(resources.pods, "default", pod.metadata.name ?? "");
      return end(pod, choice === 2 ? "Failed" : "Succeeded");
    },
    check({ kind, object, old }) {
      if (kind === "Pod") {
        // One that the controller let go of before it ended, for there were too many, counts as nothing.
        const pod = object as DeepReadonly<Pod> | undefined;
        const uid = pod?.metadata.uid ?? "";
        if (pod !== undefined && isTracked(pod) && !ended.succeeded.has(uid) && !ended.failed.has(uid)) {
          if (pod.status?.phase === "Succeeded") ended.succeeded.add(uid);
          else if (pod.status?.phase === "Failed" || pod.metadata.deletionTimestamp !== undefined) ended.failed.add(uid);
        }
        const active = pods().filter(isLive).length;
        const allowed = Math.max(...parallelism.values) + unknownCreates();
        if (old === undefined) assert.ok(active <= allowed, `${active} active pods of ${allowed}`);
      } else if (kind === "Job" && object !== undefined) {
        const { succeeded = 0, failed = 0 } = (object as DeepReadonly<Job>).status ?? {};
        const before = (old as DeepReadonly<Job> | undefined)?.status;
        assert.ok(succeeded >= (before?.succeeded ?? 0) && failed >= (before?.failed ?? 0), "counts do not fall");
        assert.ok(
          succeeded <= ended.succeeded.size && failed <= ended.failed.size,
          `${succeeded} succeeded and ${failed} failed of ${ended.succeeded.size} and ${ended.failed.size}`,
        );
      }
    },
    async settle() {
      await client.patch(resources.jobs, "default", "sum", { type: "merge", body: { spec: { parallelism: parallelism.set(2) } } });
      // Pods go on to succeed, some of those that come for one that failed among them.
      for (let round = 0; round < 30; round++) {
        await cluster.settled({ quietMs: 20_000, limitMs: 3_600_000 });
        const running = pods().filter(isRunning);
        if (running.length === 0) break;
        for (const pod of running) await end(pod, "Succeeded");
      }
      await cluster.settled({ quietMs: 90_000, limitMs: 3_600_000 });
    },
    async reached() {
      const { status } = await client.get(resources.jobs, "default", "sum");
      assert.ok(
        status?.conditions?.some(({ type, status: value }) => type === "Complete" && value === "True"),
        "complete",
      );
      assert.deepEqual([status?.succeeded, status?.active ?? 0, status?.uncountedTerminatedPods ?? {}], [ended.succeeded.size, 0, {}]);
      assert.ok(ended.succeeded.size >= completions);
      assert.equal(status?.failed ?? 0, ended.failed.size);
      assert.deepEqual(
        pods().filter(({ metadata }) => (metadata.finalizers ?? []).length > 0),
        [],
      );
    },
  };
});
