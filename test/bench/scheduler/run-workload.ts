/** One workload of the scheduler's benchmark, end to end: over TLS, through the API server and a durable store, until every pod is bound. */
import { readFile } from "node:fs/promises";
import { connectionSettings, parseKubeconfig } from "../../../src/client/index.ts";
import { Load } from "../api/load.ts";
import { MeasuredServer } from "../api/measured-server.ts";
import { BoundPods } from "./bound-pods.ts";
import { Making } from "./making.ts";
import { schedulerFigures } from "./scheduler-figures.ts";
import { metricsOf, sumOf } from "./metrics.ts";
import type { ConnectionSettings } from "../../../src/client/index.ts";
import type { Workload } from "./workloads.ts";

export interface Result {
  readonly workload: string;
  readonly perSecond: number;
  readonly threshold: number | undefined;
  /** The scheduler's own decisions in a second of its time. */
  readonly decisionsPerSecond: number;
  /** From the creation to the binding, milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly privateMiB: number;
  readonly longestBlockMs: number;
  /** Of the servers' process, for each pod. */
  readonly cpuMicros: number;
  /** Of the load generator, which is a process of its own, for each pod. */
  readonly loadCpuMicros: number;
  /** That the API server answered, watches left out, for each pod. */
  readonly requests: number;
}

export async function runWorkload(workload: Workload, options: RunOptions): Promise<Result> {
  const flags = [`--scheduler.secure-port=${options.port + 1}`];
  await using server = await MeasuredServer.start({ ...options, components: "apiserver,scheduler", flags });
  const settings = await connectionSettings(parseKubeconfig(await server.kubeconfig), (file) => readFile(file));
  await using load = new Load(settings);
  const sessions = await load.connect(4);
  await using bound = await BoundPods.follow(sessions[0]!);
  const making = new Making(sessions, workload.nodes);
  const servers = { settings, server, port: options.port };
  await prepare(workload, { making, bound, servers });
  const { leaving, churn, threshold } = workload;
  const { count } = workload.measured;
  const earlier = await figuresOf(servers);
  await server.longestBlockMs();
  const startedMs = performance.now();
  const over = new AbortController();
  const others = [churn && making.churn(churn, over.signal), leaving && making.leave(leaving, over.signal)];
  await making.pods("measured", workload.measured);
  await bound.reached("measured", count);
  const seconds = (performance.now() - startedMs) / 1000;
  over.abort();
  await Promise.all(others);
  const later = await figuresOf(servers);
  const latencies = bound.latencies(making.createdMs).sort((a, b) => a - b);
  return {
    workload: workload.name,
    perSecond: Math.round(count / seconds),
    threshold,
    decisionsPerSecond: Math.round((later.decisions - earlier.decisions) / (later.seconds - earlier.seconds)),
    p50Ms: Math.round(latencies[Math.floor(latencies.length / 2)] ?? 0),
    p99Ms: Math.round(latencies[Math.floor(latencies.length * 0.99)] ?? 0),
    privateMiB: Math.round(await server.privateMiB()),
    longestBlockMs: Math.round(await server.longestBlockMs()),
    cpuMicros: Math.round((later.cpuMicros - earlier.cpuMicros) / count),
    loadCpuMicros: Math.round((later.loadCpuMicros - earlier.loadCpuMicros) / count),
    requests: Math.round(((later.requests - earlier.requests) / count) * 10) / 10,
  };
}

interface Servers {
  readonly settings: ConnectionSettings;
  readonly server: MeasuredServer;
  /** The API server's; the scheduler's is the next. */
  readonly port: number;
}

/** What is there before the measured pods come. */
async function prepare(workload: Workload, { making, bound, servers }: { making: Making; bound: BoundPods; servers: Servers }): Promise<void> {
  const { before, measured, leaving } = workload;
  await making.surroundings(workload);
  await making.volumes("before", before);
  await making.pods("before", before);
  if (before.until === "pending") await attempted(before.count, servers);
  else await bound.reached("before", before.count);
  if (leaving !== undefined) {
    await making.pods("leaving", leaving);
    await bound.reached("leaving", leaving.count);
  }
  await making.volumes("measured", measured);
}

async function figuresOf({ settings, server, port }: Servers) {
  const { user, system } = process.cpuUsage();
  return {
    ...(await schedulerFigures(settings, port + 1)),
    cpuMicros: (await server.cpuSeconds()) * 1e6,
    loadCpuMicros: user + system,
    requests: sumOf(await metricsOf(settings, port), "apiserver_request_total", /verb="(?!WATCH)/),
  };
}

/** Waits until that many pods were tried in vain, or are kept out, and what is to be said about it has been written. */
async function attempted(count: number, { settings, server, port }: Servers): Promise<void> {
  const pauseMs = 500;
  for (let isIdle = false; !isIdle || (await schedulerFigures(settings, port + 1)).waiting < count;) {
    const before = await server.cpuSeconds();
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    isIdle = (await server.cpuSeconds()) - before < pauseMs / 1000 / 10;
  }
}

export interface RunOptions {
  readonly port: number;
  readonly bundle?: string;
  readonly nodeFlags?: readonly string[];
}
