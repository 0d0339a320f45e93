/** A settled cluster that nobody touches: who still asks the API server for something, and what CPU the process uses. */
import { inFlight } from "../api/load.ts";
import { BenchCluster, hasCondition } from "./bench-cluster.ts";
import { deployment, job, service } from "./objects.ts";
import { RequestLog } from "./request-log.ts";
import { delay, isAvailable, measured } from "./workloads.ts";
import type { BenchOptions } from "./bench-cluster.ts";
import type { Row } from "./workloads.ts";

/** What was caused by the last change has ended by then. */
const settlingMs = 20_000;
const idleSeconds = 60;

/** Prints who asked for what in those 60 seconds. */
export async function idle(options: BenchOptions, scale: number): Promise<Row[]> {
  await using log = await RequestLog.open();
  await using cluster = await BenchCluster.start(options, 10, log.flags);
  await delay(settlingMs);
  const empty = await measured(cluster, { work: "an idle cluster of 10 nodes for 60 s: empty", count: idleSeconds }, () => delay(idleSeconds * 1000));
  const count = await fill(cluster, scale);
  await delay(settlingMs);
  await log.take();
  const full = await measured(cluster, { work: `an idle cluster of 10 nodes for 60 s: with ${count} objects`, count: idleSeconds }, () =>
    delay(idleSeconds * 1000),
  );
  console.table(await log.take());
  return [empty, full];
}

/** Of each Deployment there are its ReplicaSet, its pod, a Service with an EndpointSlice and Endpoints; of each Job its pod. Answers how many objects. */
async function fill(cluster: BenchCluster, scale: number): Promise<number> {
  const workloads = Math.round(700 * scale);
  const done = Math.round(200 * scale);
  const configs = Math.round(400 * scale);
  await cluster.namespace("bench");
  const apps = "/apis/apps/v1/namespaces/bench/deployments";
  const batch = "/apis/batch/v1/namespaces/bench/jobs";
  await using available = await cluster.follow(apps, isAvailable);
  await using complete = await cluster.follow(batch, (object) => hasCondition(object, "Complete"));
  await inFlight(50, workloads, async (index) => {
    await cluster.create(apps, deployment(`web-${index}`, 1), index);
    await cluster.create("/api/v1/namespaces/bench/services", service(`web-${index}`), index);
  });
  await inFlight(50, done, (index) => cluster.create(batch, job(`job-${index}`), index));
  await inFlight(50, configs, (index) =>
    cluster.create("/api/v1/namespaces/bench/configmaps", { metadata: { name: `config-${index}` }, data: { text: "x" } }, index),
  );
  await available.reached(workloads);
  await complete.reached(done);
  return workloads * 6 + done * 2 + configs;
}
