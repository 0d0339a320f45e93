/**
 * `npm run bench main-job`: the main path on this machine, on containerd as root (else with local processes): time to ready of a second
 * start, apply to three Available, deleted pod to replacement Running, private memory and CPU when idle, creates through TLS. Exits 1 over
 * a budget.
 */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { Client, TlsTransport, connectionSettings, parseKubeconfig, resources } from "../../src/client/index.ts";
import { Instance, until, whyNoContainers } from "../e2e/instance.ts";

const runtime = (await whyNoContainers()) === undefined ? "containerd" : "process";
const args = ["--port", "16449", "--runtime", runtime, "--pod-cidr", "10.215.0.0/16", "--service-cidr", "10.216.0.0/16", "--kubelet.port=16259"];
const hello = path.resolve(import.meta.dirname, "../../examples/hello.yaml");
const idleMs = 20_000;

await using instance = await Instance.create();
await instance.end(await instance.start({ args }), "SIGTERM");
const beforeStart = performance.now();
const server = await instance.start({ args });
const readyMs = performance.now() - beforeStart;

const settings = await connectionSettings(parseKubeconfig(await readFile(path.join(instance.dataDir, "kubeconfig"), "utf8")), (file) => readFile(file));
const clock = systemClock({ keepAlive: true });
await using transport = new TlsTransport({ ...settings, clock });
const client = new Client({ transport: transport.send, clock, userAgent: "bench" });

// The first pods also load what starts lazily.
await instance.kubectl("apply", "-f", hello);
await instance.kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
await instance.kubectl("delete", "-f", hello, "--wait=true");
const availableMs = await timed(async () => {
  await instance.kubectl("apply", "-f", hello);
  await untilReplicas(3);
});
const [victim] = (await client.list(resources.pods, "default", {})).items;
const replacementMs = await timed(async () => {
  await client.delete(resources.pods, "default", victim!.metadata.name!, { gracePeriodSeconds: 1 });
  await until(async () => {
    const pods = (await client.list(resources.pods, "default", {})).items;
    const running = pods.filter(
      (pod) => pod.status?.phase === "Running" && pod.metadata.deletionTimestamp === undefined && pod.metadata.name !== victim!.metadata.name,
    );
    return running.length === 3 ? true : undefined;
  }, "the replacement");
});
const one = await creates(200, 1);
const hundred = await creates(4000, 100);
await delay(5000);
const idle = await idleUse(server.pid!);

const rows = [
  row("to ready, warm disk (ms)", readyMs, 800, 3400),
  row("apply → 3 Available (ms)", availableMs, 1350, 1350),
  row("deleted pod → replacement Running (ms)", replacementMs, 730, 730),
  row("create 1 KB over TLS, 1 client (ms)", one.meanMs, 1, 1.7),
  row("create 1 KB over TLS, 100 in flight (per s)", hundred.perSecond, 7500, 2100, true),
  row("idle, private memory (MiB)", idle.privateMiB, 200, 596),
  row("idle, CPU (% of a core)", idle.cpuPercent, 1, undefined),
];
console.table(rows);
console.log(JSON.stringify({ runtime, rows }));
process.exitCode = rows.some(({ isWithin }) => !isWithin) ? 1 : 0;

function row(work: string, measured: number, budget: number, upstream: number | undefined, isRate = false) {
  const rounded = Math.round(measured * 100) / 100;
  return { work, measured: rounded, budget, upstream, isWithin: isRate ? measured >= budget : measured <= budget };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

async function untilReplicas(count: number): Promise<void> {
  await until(
    async () => ((await client.get(resources.deployments, "default", "hello")).status?.availableReplicas === count ? true : undefined),
    `${count} replicas`,
  );
}

async function creates(count: number, inFlight: number): Promise<{ meanMs: number; perSecond: number }> {
  const data = { text: "x".repeat(800) };
  let next = 0;
  const from = performance.now();
  const worker = async () => {
    for (let index = next++; index < count; index = next++) {
      await client.create(resources.configMaps, {
        kind: "ConfigMap",
        apiVersion: "v1",
        metadata: { namespace: "default", name: `bench-${inFlight}-${index}` },
        data,
      });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const tookMs = performance.now() - from;
  return { meanMs: (tookMs / count) * inFlight, perSecond: (count / tookMs) * 1000 };
}

async function idleUse(pid: number): Promise<{ privateMiB: number; cpuPercent: number }> {
  const before = await cpuMs(pid);
  await delay(idleMs);
  const cpuPercent = (((await cpuMs(pid)) - before) / idleMs) * 100;
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(rollup)?.[1] ?? 0);
  return { privateMiB: (kib("Private_Clean") + kib("Private_Dirty")) / 1024, cpuPercent };
}

/** User and system time of a process, at 100 ticks a second. */
async function cpuMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
