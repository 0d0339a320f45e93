import { deepEqual, equal, match } from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { parseCpu, parseInterfaces, parseMemory } from "../stats/machine-usage.ts";
import type { StatsSnapshot } from "../stats/snapshot.ts";
import { AnswerCache } from "./answer-cache.ts";
import { nodeAttributes } from "./node-attributes.ts";
import { cadvisorMetrics, resourceMetrics } from "./metrics/resource-metrics.ts";
import type { Call } from "./server-call.ts";
import { statsSummary } from "./metrics/stats-summary.ts";
import { serveSystemLogs } from "./logs/system-logs.ts";
import { simulatedMachine } from "../node/machine.ts";

const rights: [method: string, path: string, expected: string][] = [
  ["GET", "/stats/summary", "get stats"],
  ["GET", "/metrics/cadvisor", "get metrics"],
  ["GET", "/logs/", "get log"],
  ["POST", "/checkpoint/a/b/c", "create checkpoint"],
  ["GET", "/pods", "get pods,proxy"],
  ["GET", "/healthz/ping", "get healthz,proxy"],
  ["GET", "/configz", "get configz,proxy"],
  ["POST", "/exec/a/b/c", "create proxy"],
  ["GET", "/podsandmore", "get proxy"],
];
for (const [method, path, expected] of rights) {
  test(`right for ${method} ${path}`, () => {
    const { verb, subresources } = nodeAttributes(method, path);
    equal(`${verb} ${subresources.join()}`, expected);
  });
}

const pod: Pod = {
  metadata: { name: "web", namespace: "default", uid: "u" },
  spec: { containers: [{ name: "c", resources: { limits: { cpu: "500m", memory: "64Mi" } } }] },
  status: { startTime: "2026-01-01T00:00:00Z" },
};
const cpu = { atMs: 10_000, nanoSeconds: 2_500_000_000, nanoCores: 250_000_000 };
const memory = { atMs: 10_000, usageBytes: 300, workingSetBytes: 200, rssBytes: 100, pageFaults: 2, majorPageFaults: 1 };
const disk = { capacityBytes: 1000, availableBytes: 400, usedBytes: 600, inodes: 100, inodesFree: 90 };
const snapshot: StatsSnapshot = {
  atMs: 10_000,
  nodeName: "n1",
  startedMs: 0,
  node: {
    memory: { capacityBytes: 1000, availableBytes: 300 },
    nodefs: disk,
    imagefs: disk,
    isOneFilesystem: true,
    processes: { max: 100, running: 5 },
    network: [{ name: "eth0", rxBytes: 1, rxErrors: 2, txBytes: 3, txErrors: 4 }],
  },
  nodeCpu: { atMs: 10_000, nanoSeconds: 5_000_000_000, nanoCores: 1 },
  pods: [
    {
      pod,
      containers: [{ name: "c", id: "id", image: "web:1", startedMs: 1000, cpu, memory, rootfs: { bytes: 10, inodes: 1 }, logs: { bytes: 5, inodes: 1 } }],
      cpu,
      memory,
      network: [{ name: "eth0", rxBytes: 7, rxErrors: 0, txBytes: 8, txErrors: 0 }],
      processes: 3,
      volumes: [{ name: "v", bytes: 20, inodes: 2 }],
    },
  ],
};

test("metrics/resource: what a metrics server reads", () => {
  const lines = resourceMetrics(snapshot)
    .split("\n")
    .filter((line) => !line.startsWith("#") && line !== "");
  deepEqual(lines, [
    'container_cpu_usage_seconds_total{container="c",namespace="default",pod="web"} 2.5 10000',
    'container_memory_working_set_bytes{container="c",namespace="default",pod="web"} 200 10000',
    'container_start_time_seconds{container="c",namespace="default",pod="web"} 1',
    "node_cpu_usage_seconds_total 5 10000",
    "node_memory_working_set_bytes 700 10000",
    'pod_cpu_usage_seconds_total{namespace="default",pod="web"} 2.5 10000',
    'pod_memory_working_set_bytes{namespace="default",pod="web"} 200 10000',
    "resource_scrape_error 0",
  ]);
  match(
    resourceMetrics(snapshot),
    /# HELP node_cpu_usage_seconds_total \[STABLE\] Cumulative cpu time consumed by the node in core-seconds\n# TYPE node_cpu_usage_seconds_total counter\n/,
  );
  match(resourceMetrics(undefined), /^resource_scrape_error 1$/m);
});

test("metrics/cadvisor: names and labels that dashboards know", () => {
  const text = cadvisorMetrics(snapshot, simulatedMachine);
  for (const line of [
    'container_cpu_usage_seconds_total{container="c",cpu="total",id="/kubepods/podu/id",image="web:1",name="id",namespace="default",pod="web"} 2.5 10000',
    'container_memory_working_set_bytes{container="c",id="/kubepods/podu/id",image="web:1",name="id",namespace="default",pod="web"} 200 10000',
    'container_spec_cpu_quota{container="c",id="/kubepods/podu/id",image="web:1",name="id",namespace="default",pod="web"} 50000 10000',
    'container_network_receive_bytes_total{container="",id="/kubepods/podu",image="",interface="eth0",name="",namespace="default",pod="web"} 7 10000',
  ]) {
    equal(text.includes(`${line}\n`), true, line);
  }
});

test("stats/summary: whole and brief", () => {
  const whole = JSON.parse(JSON.stringify(statsSummary(snapshot, { isBrief: false })));
  deepEqual(Object.keys(whole.node), ["nodeName", "systemContainers", "startTime", "cpu", "memory", "network", "fs", "runtime", "rlimit"]);
  deepEqual(Object.keys(whole.pods[0]), ["podRef", "startTime", "containers", "cpu", "memory", "network", "volume", "ephemeral-storage", "process_stats"]);
  equal(whole.pods[0]["ephemeral-storage"].usedBytes, 35);
  deepEqual(whole.node.fs, {
    time: "1970-01-01T00:00:10Z",
    availableBytes: 400,
    capacityBytes: 1000,
    usedBytes: 600,
    inodesFree: 90,
    inodes: 100,
    inodesUsed: 10,
  });
  const brief = JSON.parse(JSON.stringify(statsSummary(snapshot, { isBrief: true })));
  deepEqual(Object.keys(brief.pods[0]), ["podRef", "startTime", "containers", "cpu", "memory"]);
  equal(brief.pods[0].containers[0].cpu.usageNanoCores, 250_000_000);
  const first = JSON.parse(JSON.stringify(statsSummary({ ...snapshot, nodeCpu: { ...snapshot.nodeCpu, nanoCores: undefined } }, { isBrief: true })));
  deepEqual(first.node.cpu, { time: "1970-01-01T00:00:10Z", usageCoreNanoSeconds: 5_000_000_000 });
});

test("what the kernel tells", () => {
  deepEqual(parseMemory("MemTotal:  100 kB\nMemFree:  10 kB\nInactive(file):   5 kB\n"), { capacityBytes: 102_400, availableBytes: 15_360 });
  equal(parseCpu("cpu  100 10 50 1000 20 5 5 0 0 0\ncpu0 1 1 1 1\n"), 1_700_000_000);
  deepEqual(parseInterfaces("Inter-|\n face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12\n  eth0:  100 2 3 4 5 6 7 8 200 10 11 12\n"), [
    { name: "eth0", rxBytes: 100, rxErrors: 3, txBytes: 200, txErrors: 11 },
  ]);
});

test("answers are kept for a while, failures are not", async () => {
  const clock = new VirtualClock();
  const cache = new AnswerCache<number>({ clock, limit: 2, keptMs: () => 1000 });
  let asked = 0;
  const ask = async () => ++asked;
  equal(await cache.get("a", ask), 1);
  equal(await cache.get("a", ask), 1);
  await clock.advance(1001, async () => undefined);
  equal(await cache.get("a", ask), 2);
  await cache.get("b", async () => Promise.reject(new Error("no"))).catch(() => undefined);
  equal(await cache.get("b", ask), 3);
});

test("logs of the machine: listed, read, and nothing outside", async () => {
  const root = await mkdtemp(join(tmpdir(), "coracle-logs-"));
  try {
    await mkdir(join(root, "logs", "apt"), { recursive: true });
    await writeFile(join(root, "logs", "a&b.log"), "hello");
    await writeFile(join(root, "secret"), "no");
    await symlink(join(root, "secret"), join(root, "logs", "link"));
    const get = async (path: string) => {
      const parts = path.split("/").filter((part) => part !== "");
      const call = { options: { systemLogs: join(root, "logs") }, request: { path: `/logs/${path}` }, parts, query: new URLSearchParams() } as unknown as Call;
      const { status, body } = await serveSystemLogs(call);
      const chunks: Uint8Array[] = [];
      if (body.kind === "stream") for await (const chunk of body.chunks as AsyncIterable<Uint8Array>) chunks.push(chunk);
      else if (body.kind === "bytes") chunks.push(body.bytes);
      return `${status} ${Buffer.concat(chunks).toString()}`;
    };
    match(await get(""), /<a href="a&b\.log">a&amp;b\.log<\/a>\n<a href="apt\/">apt\/<\/a>/);
    equal(await get("a&b.log"), "200 hello");
    equal((await get("link")).slice(0, 3), "404");
    equal((await get("../secret")).slice(0, 3), "404");
  } finally {
    await rm(root, { recursive: true });
  }
});
