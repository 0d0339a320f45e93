import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { isLive, ownedBy, podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import { IndexSet } from "./index-set.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Job, JobSpec } from "../../api/batch-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Simulation, Stage } from "../../testing/simulation/simulate.ts";

const completions = 5;
const setting = { controllers: ["job-controller"], steps: 14, pauseMs: 8000 };
/** A container's exit code by what the failure policies below make of it. */
const exitCodes = { counts: 1, killed: 137, ignored: 42, failsIndex: 43 };
const onExit = (action: string, code: number) => ({ action, onExitCodes: { operator: "In", values: [code] } });

simulate("an Indexed Job runs each index until it has succeeded", setting, (stage) => indexedJob(stage, { backoffLimit: 1000 }));
simulate("an Indexed Job gives each index its own chances", setting, (stage) =>
  indexedJob(stage, { backoffLimitPerIndex: 1, podFailurePolicy: { rules: [onExit("Ignore", exitCodes.ignored), onExit("FailIndex", exitCodes.failsIndex)] } }),
);
simulate("an Indexed Job is done when its success policy says so", setting, (stage) =>
  indexedJob(stage, { backoffLimit: 1000, successPolicy: { rules: [{ succeededIndexes: "0-1", succeededCount: 1 }, { succeededIndexes: "2-4" }] } }),
);

/** Pods end in each way: no two of an index run at once, indexes are counted once and for good, and the Job ends as its rules say. */
function indexedJob({ cluster, client, random, state, unknownCreates }: Stage, rules: Partial<JobSpec>): Simulation {
  const pods = () => state.of<Pod>("Pod").filter((pod) => ownedBy(pod, "sum"));
  const job = () => state.of<Job>("Job")[0] as DeepReadonly<Job>;
  const isRunning = (pod: DeepReadonly<Pod>) => isLive(pod) && pod.status?.phase === "Running";
  const succeeded = new Set<number>();
  const chances = new Map<number, number>();
  const indexesOf = (text: string | undefined) => [...IndexSet.parse(text ?? "", completions)];
  const end = async (pod: DeepReadonly<Pod>, code: number) => {
    const status = { phase: code === 0 ? "Succeeded" : "Failed", containerStatuses: [terminated(code)] };
    const body = { metadata: { uid: pod.metadata.uid }, status };
    await client.patch(resources.pods, "default", pod.metadata.name ?? "", { type: "merge", subresource: "status", body });
    if (code === 0) succeeded.add(indexOf(pod));
    else if (code !== exitCodes.ignored) chances.set(indexOf(pod), (chances.get(indexOf(pod)) ?? 0) + (code === exitCodes.failsIndex ? completions : 1));
  };
  const hasEnded = () => (job().status?.conditions ?? []).some(({ type, status }) => status === "True" && (type === "Complete" || type === "Failed"));
  return {
    arrange() {
      const spec = { completions, parallelism: 2, completionMode: "Indexed", template: podTemplate("a:1", "Never"), ...rules } as const;
      return client.create(resources.jobs, { metadata: { namespace: "default", name: "sum" }, spec } satisfies Job);
    },
    async step() {
      const pod = someOf(random, pods().filter(isRunning));
      const choice = random.integer(8);
      if (choice === 0) return client.patch(resources.jobs, "default", "sum", { type: "merge", body: { spec: { parallelism: 1 + random.integer(3) } } });
      if (pod === undefined) return;
      if (choice === 1) {
        await client.delete(resources.pods, "default", pod.metadata.name ?? "");
        // What a kubelet says last of a pod that it stopped.
        return end(pod, exitCodes.killed);
      }
      return end(pod, choice <= 4 ? 0 : choice === 5 ? exitCodes.ignored : choice === 6 ? exitCodes.failsIndex : exitCodes.counts);
    },
    check({ kind, object, old }) {
      if (kind === "Pod" && object !== undefined && old === undefined) {
        const twins = pods().filter((pod) => isLive(pod) && indexOf(pod) === indexOf(object as Pod)).length;
        assert.ok(twins <= 1 + unknownCreates(), `${twins} pods of index ${indexOf(object as Pod)}`);
      } else if (kind === "Job" && object !== undefined) {
        const now = indexesOf((object as Job).status?.completedIndexes);
        for (const index of now) assert.ok(succeeded.has(index), `index ${index} has succeeded`);
        for (const index of indexesOf((old as Job | undefined)?.status?.completedIndexes)) assert.ok(now.includes(index), `index ${index} stays completed`);
      }
    },
    async settle() {
      for (let round = 0; round < 40 && !hasEnded(); round++) {
        await cluster.settled({ quietMs: 20_000, limitMs: 3_600_000 });
        for (const pod of pods().filter(isRunning)) await end(pod, 0);
        if (pods().filter(isRunning).length === 0) await cluster.advance(60_000);
      }
      await cluster.settled({ quietMs: 90_000, limitMs: 3_600_000 });
    },
    async reached() {
      const { status, spec } = job();
      const done = indexesOf(status?.completedIndexes);
      const failed = indexesOf(status?.failedIndexes);
      const ended = (status?.conditions ?? []).flatMap(({ type, status: value, reason }) => (value === "True" ? [`${type} ${reason}`] : []));
      if (spec?.successPolicy !== undefined) {
        assert.ok(done.includes(0) || done.includes(1) || [2, 3, 4].every((index) => done.includes(index)), `enough of ${done.join(" ")}`);
        assert.ok(ended.includes("Complete SuccessPolicy") || ended.includes("Complete CompletionsReached"), ended.join());
      } else if (failed.length > 0) {
        assert.equal(spec?.backoffLimitPerIndex, 1);
        for (const index of failed) assert.ok((chances.get(index) ?? 0) > 1, `index ${index} had its chances`);
        assert.equal(done.length + failed.length, completions);
        assert.ok(ended.includes("Failed FailedIndexes"), ended.join());
      } else {
        assert.deepEqual(done, [0, 1, 2, 3, 4]);
        assert.ok(ended.includes("Complete CompletionsReached"), ended.join());
      }
      assert.deepEqual([status?.succeeded ?? 0, status?.active ?? 0, status?.uncountedTerminatedPods ?? {}], [done.length, 0, {}]);
      for (const { metadata } of pods()) assert.deepEqual(metadata.finalizers ?? [], [], `${metadata.name} is let go of`);
    },
  };
}

function indexOf({ metadata }: DeepReadonly<Pod>): number {
  return Number(metadata.labels?.["batch.kubernetes.io/job-completion-index"]);
}

function terminated(exitCode: number) {
  return { name: "c", image: "a:1", imageID: "", ready: false, restartCount: 0, state: { terminated: { exitCode } } };
}
