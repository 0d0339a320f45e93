/** What the controllers are given to do; each on a cluster of its own. */
import { inFlight } from "../api/load.ts";
import { BenchCluster, hasCondition } from "./bench-cluster.ts";
import { autoscaler, deployment, job } from "./objects.ts";
import type { BenchOptions } from "./bench-cluster.ts";
import type { Followed } from "./followed.ts";

export interface Row {
  readonly work: string;
  readonly count: number;
  readonly seconds: number;
  readonly budget: number | undefined;
  readonly perSecond: number;
  /** Microseconds of CPU of the cluster's process for each of `count`. */
  readonly cpuMicros: number;
  readonly longestBlockMs: number;
  readonly privateMiB: number;
}

/** Does one piece of work at `scale` (1: as told). */
export type Workload = (options: BenchOptions, scale: number) => Promise<Row[]>;

export const isAvailable = ({ spec, status }: Followed) => status?.availableReplicas === spec?.replicas;
const base = "/apis/apps/v1/namespaces/bench/deployments";

export async function deployments(options: BenchOptions, scale: number): Promise<Row[]> {
  const count = Math.round(600 * scale);
  await using cluster = await BenchCluster.start(options, 10);
  await cluster.namespace("bench");
  await using available = await cluster.follow(base, isAvailable);
  const create = await measured(cluster, { work: "Deployments of one replica: available", count, budget: 5 }, async () => {
    await inFlight(50, count, (index) => cluster.create(base, deployment(`web-${index}`, 1), index));
    await available.reached(count);
  });
  return [create];
}

export async function replicas(options: BenchOptions, scale: number): Promise<Row[]> {
  const count = Math.round(10_000 * scale);
  await using cluster = await BenchCluster.start(options, Math.max(2, Math.round(100 * scale)));
  await cluster.namespace("bench");
  await using available = await cluster.follow(base, isAvailable);
  const create = await measured(cluster, { work: "a Deployment's replicas: available", count, budget: 20 }, async () => {
    await cluster.create(base, deployment("web", count));
    await available.reached(1);
  });
  return [create, await deleted(cluster, { work: "a namespace with these pods: gone", count })];
}

export async function namespace(options: BenchOptions, scale: number): Promise<Row[]> {
  const count = Math.round(10_000 * scale);
  await using cluster = await BenchCluster.start(options, 1);
  await cluster.namespace("bench");
  const data = { text: "x".repeat(500) };
  await inFlight(100, count, (index) => {
    const name = `object-${index}`;
    return index % 2 === 0
      ? cluster.create("/api/v1/namespaces/bench/configmaps", { metadata: { name }, data }, index)
      : cluster.create("/api/v1/namespaces/bench/secrets", { metadata: { name }, stringData: data }, index);
  });
  return [await deleted(cluster, { work: "a namespace with objects: gone", count, budget: 5 })];
}

export async function jobs(options: BenchOptions, scale: number): Promise<Row[]> {
  const count = Math.round(10_000 * scale);
  await using cluster = await BenchCluster.start(options, Math.max(2, Math.round(100 * scale)));
  await cluster.namespace("bench");
  const path = "/apis/batch/v1/namespaces/bench/jobs";
  await using complete = await cluster.follow(path, (object) => hasCondition(object, "Complete"));
  const row = await measured(cluster, { work: "Jobs of one pod: complete", count }, async () => {
    await inFlight(50, count, (index) => cluster.create(path, job(`job-${index}`), index));
    await complete.reached(count);
  });
  return [row];
}

export async function autoscalers(options: BenchOptions, scale: number): Promise<Row[]> {
  const count = Math.round(1_000 * scale);
  const path = "/apis/autoscaling/v2/namespaces/bench/horizontalpodautoscalers";
  await using cluster = await BenchCluster.start(options, Math.max(2, Math.round(30 * scale)));
  await cluster.namespace("bench");
  await using available = await cluster.follow(base, ({ spec, status }) => spec?.replicas === 2 && status?.availableReplicas === 2);
  await using present = await cluster.follow(base, isAvailable);
  await inFlight(50, count, (index) =>
    cluster.create(base, deployment(`web-${index}`, 1, { "simulated.coracle.dev/usage": "cpu-millis=40,memory-bytes=16777216" }), index),
  );
  await present.reached(count);
  const scaled = await measured(cluster, { work: "HPAs: all targets at their new size and available", count }, async () => {
    await inFlight(50, count, (index) => cluster.create(path, autoscaler(`web-${index}`, 2), index));
    await available.reached(count);
  });
  const periods = 4;
  const steady = await measured(cluster, { work: "HPAs: one look at each, by the period of 15 s", count: count * periods }, () => delay(periods * 15_000));
  return [scaled, steady];
}

async function deleted(cluster: BenchCluster, figures: Figures): Promise<Row> {
  await using namespaces = await cluster.follow("/api/v1/namespaces", ({ metadata }) => metadata.name === "bench");
  await namespaces.reached(1);
  return await measured(cluster, figures, async () => {
    await cluster.request("DELETE", "/api/v1/namespaces/bench");
    await namespaces.reached(0);
  });
}

interface Figures {
  readonly work: string;
  readonly count: number;
  /** Seconds. */
  readonly budget?: number;
}

export async function measured({ server, requests }: BenchCluster, { work, count, budget }: Figures, run: () => Promise<void>): Promise<Row> {
  await requests?.take();
  await server.longestBlockMs();
  const cpu = await server.cpuSeconds();
  const fromMs = performance.now();
  await run();
  const seconds = (performance.now() - fromMs) / 1000;
  const cpuMicros = Math.round((((await server.cpuSeconds()) - cpu) / count) * 1e6);
  const longestBlockMs = Math.round(await server.longestBlockMs());
  if (requests !== undefined) console.table((await requests.take()).map((row) => ({ ...row, each: Number((row.count / count).toFixed(2)) })));
  return {
    work,
    count,
    seconds: Number(seconds.toFixed(2)),
    budget,
    perSecond: Math.round(count / seconds),
    cpuMicros,
    longestBlockMs,
    privateMiB: Math.round(await server.privateMiB()),
  };
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
