import { test } from "node:test";
import { deepEqual, equal, match } from "node:assert/strict";
import { readBody, resources } from "../../client/index.ts";
import { TestCluster } from "../../testing/cluster.ts";
import { testAuthority } from "../../testing/authority.ts";
import { runControllers } from "../run.ts";
import { ControllersServer } from "./controllers-server.ts";
import type { Job } from "../../api/batch-v1/types.ts";

const template = (name: string) => ({
  metadata: { labels: { app: name } },
  spec: { restartPolicy: "Never", automountServiceAccountToken: false, containers: [{ name: "c", image: "i" }] },
});

test("controllers: their server tells health, counts, and what was done for an object", async () => {
  const server = new ControllersServer();
  const { metrics, onReconciled } = server;
  const selection = ["cronjob-controller", "job-controller", "serviceaccount-controller"];
  await using cluster = await TestCluster.start({
    components: { controllers: (context) => runControllers({ ...context, caBundle: testAuthority, flags: new Map(), selection, metrics, onReconciled }) },
  });
  const { client } = cluster;
  await cluster.settled();
  const job: Job = { metadata: { namespace: "default", name: "once" }, spec: { backoffLimit: 0, template: template("once") } };
  await client.create(resources.jobs, job);
  await cluster.settled();
  await client.create(resources.cronJobs, {
    metadata: { namespace: "default", name: "often" },
    spec: { schedule: "* * * * *", jobTemplate: { spec: { template: template("often") } } },
  });
  const pods = async () => (await client.list(resources.pods, "default")).items;
  const [pod] = await pods();
  await client.updateStatus(resources.pods, { ...pod!, status: { ...pod!.status, phase: "Succeeded" } });
  await cluster.until(async () => (await pods()).length > 1);
  await cluster.settled();

  equal(await ask(server, "/healthz"), "200 ok");
  equal(await ask(server, "/elsewhere"), "404 404 page not found\n");
  const counts = (await ask(server, "/metrics")).split("\n");
  const series = (pattern: RegExp) => counts.filter((line) => pattern.test(line));
  deepEqual(series(/^job_controller_(jobs|job_pods)_finished_total/), [
    'job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"} 1',
    'job_controller_jobs_finished_total{completion_mode="NonIndexed",result="succeeded",reason="CompletionsReached"} 1',
  ]);
  deepEqual(series(/^job_controller_job_syncs_total.*pods_created/), [
    'job_controller_job_syncs_total{completion_mode="NonIndexed",result="success",action="pods_created"} 2',
  ]);
  deepEqual(series(/^cronjob_controller_job_creation_skew_duration_seconds_count/), ["cronjob_controller_job_creation_skew_duration_seconds_count 1"]);
  equal(series(/^workqueue_adds_total\{name="job-controller"\}/).length, 1);

  const { decisions } = JSON.parse((await ask(server, "/debug/decisions/job-controller/default/once")).slice(4)) as { decisions: { actions: string[] }[] };
  match(
    decisions.at(-1)!.actions.join("; "),
    /^create pods default\/once-\w{5}: done; event SuccessfulCreate: done; update jobs\.batch\/status default\/once: done/,
  );
  equal(await ask(server, "/debug/decisions/job-controller/default/none"), "404 job-controller has done nothing for default/none that is kept\n");
});

async function ask(server: ControllersServer, path: string): Promise<string> {
  const request = {
    method: "GET",
    path,
    query: "",
    headers: {},
    body: new Uint8Array(),
    signal: new AbortController().signal,
    peer: { address: "127.0.0.1", isHttp2: false },
  };
  const response = await server.serve(request);
  return `${response.status} ${new TextDecoder().decode(await readBody(response.body))}`;
}
