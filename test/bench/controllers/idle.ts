/** A settled cluster that nobody touches: who still asks the API server for something, and what CPU the process uses. */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { inFlight } from "../api/load.ts";
import { BenchCluster, hasCondition } from "./bench-cluster.ts";
import { deployment, job, service } from "./objects.ts";
import { delay, isAvailable, measured } from "./workloads.ts";
import type { BenchOptions } from "./bench-cluster.ts";
import type { Row } from "./workloads.ts";

const policy = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata", omitStages: ["RequestReceived", "ResponseStarted"] }] };
/** What was caused by the last change has ended by then. */
const settlingMs = 20_000;
const idleSeconds = 60;

/** Prints who asked for what in those 60 seconds. */
export async function idle(options: BenchOptions, scale: number): Promise<Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "coracle-bench-idle-"));
  try {
    const log = path.join(folder, "audit.log");
    await writeFile(path.join(folder, "policy.json"), JSON.stringify(policy));
    const flags = [`--apiserver.audit-log-path=${log}`, `--apiserver.audit-policy-file=${path.join(folder, "policy.json")}`];
    await using cluster = await BenchCluster.start(options, 10, flags);
    await delay(settlingMs);
    const empty = await measured(cluster, { work: "an idle cluster of 10 nodes for 60 s: empty", count: idleSeconds }, () => delay(idleSeconds * 1000));
    const count = await fill(cluster, scale);
    await delay(settlingMs);
    const { size } = await stat(log);
    const full = await measured(cluster, { work: `an idle cluster of 10 nodes for 60 s: with ${count} objects`, count: idleSeconds }, () =>
      delay(idleSeconds * 1000),
    );
    console.table(requests((await readFile(log)).subarray(size).toString()));
    return [empty, full];
  } finally {
    await rm(folder, { recursive: true });
  }
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

interface Entry {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly objectRef?: { readonly resource: string; readonly subresource?: string };
  readonly requestURI: string;
}

function requests(text: string): Record<string, string | number>[] {
  const counts = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const { user, verb, objectRef, requestURI } = JSON.parse(line) as Entry;
    const what = objectRef === undefined ? requestURI : [objectRef.resource, objectRef.subresource].filter((part) => part !== undefined).join("/");
    const key = [user.username.replace(/^system:node:.*/, "system:node:*"), verb, what].join(" ");
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].sort(([, left], [, right]) => right - left).map(([request, count]) => ({ request, count }));
}
