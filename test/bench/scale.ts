/**
 * `npm run bench scale [-- --pods N --nodes N --connections N --bundle FILE]`: the API server alone, durable, with a large cluster in it: its
 * memory, and how long reads, changes and the event loop take while every node watches its pods. Exits 1 when a figure is outside its
 * budget; the budgets are for the numbers that it takes when none are given.
 */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { ClientHttp2Session } from "node:http2";
import { connectionSettings, parseKubeconfig } from "../../src/client/index.ts";
import { Load, inFlight, send, watch } from "./api/load.ts";
import { MeasuredServer } from "./api/measured-server.ts";
import { fillStore } from "./scale/fill-store.ts";
import { namespaceOf, nodeName, nodeOf, podName, podOf, podsPerNamespace, statusOf } from "./scale/objects.ts";

const { values: options } = parseArgs({
  options: {
    pods: { type: "string", default: "150000" },
    nodes: { type: "string", default: "5000" },
    connections: { type: "string", default: "5000" },
    seconds: { type: "string", default: "60" },
    bundle: { type: "string" },
    port: { type: "string", default: "16461" },
  },
});
const pods = Number(options.pods);
const nodes = Number(options.nodes);
const removedRoundsLater = 20;
const serviceAccount = { kind: "ServiceAccount", apiVersion: "v1", metadata: { name: "default" } };
const budgets = { pods: 0.9 * 1024, all: 3 * 1024, changeMs: 10, blockMs: 60 };

interface Row {
  readonly work: string;
  readonly measured: number;
  readonly budget: number | undefined;
  readonly isWithin: boolean;
}
const rows: Row[] = [];

const template = await startServer();
let load = new Load(await settingsOf(template));
let sessions = await load.connect(4);
await fill();
const folder = await template.stop();
await load[Symbol.asyncDispose]();
const podBytes = await fillStore({ dataDir: MeasuredServer.dataOf(folder), pods, nodes });
console.log(`a pod is ${Math.round(podBytes / (pods - 1))} bytes`);

const startedAt = performance.now();
await using server = await startServer(folder);
show("start until ready (s)", (performance.now() - startedAt) / 1000);
await measureMemory();
load = new Load(await settingsOf(server));
sessions = await load.connect(4);
try {
  await measureSlowReads();
  await measureChanges();
} finally {
  // A server waits for its connections when it ends.
  await load[Symbol.asyncDispose]();
}
console.table(rows);
console.log(JSON.stringify(rows));
process.exitCode = rows.some(({ isWithin }) => !isWithin) ? 1 : 0;

function startServer(folder?: string): Promise<MeasuredServer> {
  return MeasuredServer.start({
    port: Number(options.port),
    nodeFlags: ["--expose-gc"],
    ...(folder !== undefined && { folder }),
    ...(options.bundle !== undefined && { bundle: options.bundle }),
  });
}

async function settingsOf(of: MeasuredServer) {
  return connectionSettings(parseKubeconfig(await of.kubeconfig), (file) => readFile(file));
}

function sessionOf(index: number): ClientHttp2Session {
  return sessions[index % sessions.length]!;
}

/** The namespaces, a node as its kubelet makes it, and a pod bound to it, with the status of one that runs: what the others are made of. */
async function fill(): Promise<void> {
  await inFlight(20, Math.ceil(pods / podsPerNamespace), async (index) => {
    const name = namespaceOf(index * podsPerNamespace);
    await change("POST", "/api/v1/namespaces", { kind: "Namespace", apiVersion: "v1", metadata: { name } }, index);
    await change("POST", `/api/v1/namespaces/${name}/serviceaccounts`, serviceAccount, index);
  });
  await change("POST", "/api/v1/nodes", nodeOf(0), 0);
  await change("POST", `/api/v1/namespaces/${namespaceOf(0)}/pods`, podOf(0, nodeName(0)), 0);
  await change("PATCH", `${podPath(0)}/status`, statusOf(0), 0);
  await template.collectGarbage();
}

async function measureMemory(): Promise<void> {
  await server.collectGarbage();
  await server.collectGarbage();
  show(`private memory with ${pods} pods and ${nodes} nodes (MiB)`, await server.heldMiB(), budgets.pods);
}

/** Reads of everything, each in every form. */
async function measureSlowReads(): Promise<void> {
  for (const [form, headers] of Object.entries({
    JSON: {},
    "JSON in gzip": { "accept-encoding": "gzip" },
    Table: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
    metadata: { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" },
    protobuf: { accept: "application/vnd.kubernetes.protobuf" },
  })) {
    await block(`LIST of all pods as ${form}`, () => read(sessionOf(0), "/api/v1/pods", headers));
  }
  await block(`LIST by label`, () => read(sessionOf(0), "/api/v1/pods?labelSelector=app%3Dweb-7"));
  await block(`LIST in pages of 500`, () => readPages("/api/v1/pods?limit=500"));
  await block(`LIST of the pods of 20 nodes`, async () => {
    for (let index = 0; index < 20; index++) await read(sessionOf(0), `/api/v1/pods?fieldSelector=spec.nodeName%3D${nodeName(index)}`);
  });
  await block(`watch from the beginning`, async () => {
    let seen = 0;
    await new Promise<void>((resolve, reject) => {
      watch(sessionOf(1), "/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", (count) => {
        seen += count;
        if (seen > pods) resolve();
      }).catch(reject);
    });
  });
}

async function block(work: string, run: () => Promise<unknown>): Promise<void> {
  await server.longestBlockMs();
  const cpuBefore = await server.cpuSeconds();
  await run();
  const cpuMs = ((await server.cpuSeconds()) - cpuBefore) * 1000;
  const { elapsedMs, cpuMs: blockedMs } = await server.longestBlock();
  show(`event loop blocked (ms of CPU), ${work} (${Math.round(elapsedMs)} by the clock; ${Math.round(cpuMs)} of CPU in all)`, blockedMs, budgets.blockMs);
}

/** 20 changes a second while every node watches its pods, and somebody reads. */
async function measureChanges(): Promise<void> {
  const opened: ClientHttp2Session[] = [];
  // More at once than may wait at a listening socket would be reset.
  while (opened.length < Number(options.connections)) opened.push(...(await load.connect(Math.min(50, Number(options.connections) - opened.length))));
  let delivered = 0;
  await inFlight(50, nodes, (index) =>
    watch(
      opened[index % opened.length]!,
      `/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=0&fieldSelector=spec.nodeName%3D${nodeName(index)}`,
      (count) => (delivered += count),
    ),
  );
  await server.collectGarbage();
  show(`private memory with ${nodes} watches on ${opened.length} connections (MiB)`, await server.heldMiB(), budgets.all);
  await sleep(2_000);
  const began = delivered;
  const cpuBefore = await server.cpuSeconds();
  await server.longestBlockMs();
  const changes: number[] = [];
  const gets: number[] = [];
  const lists: number[] = [];
  let made = 0;
  const seconds = Number(options.seconds);
  const ticks: Promise<void>[] = [];
  const from = performance.now();
  for (let tick = 0; tick < seconds * 20; tick++) {
    const waitMs = from + tick * 50 - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    ticks.push(
      timed(changes, () => changeOne(tick)).then(() => void made++),
      timed(gets, () => read(sessionOf(tick), podPath((tick * 7919) % pods))),
    );
    if (tick % 4 === 0) ticks.push(timed(lists, () => read(sessionOf(tick), `/api/v1/namespaces/${namespaceOf((tick * 104_729) % pods)}/pods`)));
  }
  await Promise.all(ticks);
  show("changes made", made);
  show("events delivered to nodes' watches", delivered - began);
  show("CPU used (% of a core)", (((await server.cpuSeconds()) - cpuBefore) * 100_000) / (performance.now() - from));
  latencies("change", changes, budgets.changeMs);
  latencies("GET of a pod", gets, budgets.changeMs);
  latencies(`LIST of a namespace, ${podsPerNamespace} pods`, lists);
  const { elapsedMs, cpuMs } = await server.longestBlock();
  show(`event loop blocked (ms of CPU) with 20 changes/s (${Math.round(elapsedMs)} by the clock)`, cpuMs, budgets.blockMs);
  await server.collectGarbage();
  show("private memory at the end (MiB)", await server.heldMiB(), budgets.all);
  for (const session of opened) session.destroy();
}

/** In turn: a pod's status, a new pod, a node's annotation, the removal of the pod that was made some seconds before. */
async function changeOne(tick: number): Promise<void> {
  const round = tick >> 2;
  const isRemoval = tick % 4 === 3 && round >= removedRoundsLater;
  const extra = pods + (isRemoval ? round - removedRoundsLater : round);
  const namespace = namespaceOf((isRemoval ? round - removedRoundsLater : round) % pods);
  if (isRemoval) return change("DELETE", `/api/v1/namespaces/${namespace}/pods/${podName(extra)}`, { gracePeriodSeconds: 0 }, tick);
  switch (tick % 4) {
    case 1:
      return change("POST", `/api/v1/namespaces/${namespace}/pods`, { ...podOf(extra, nodeName(extra % nodes)), metadata: { name: podName(extra) } }, tick);
    case 2:
      return change("PATCH", `/api/v1/nodes/${nodeName(tick % nodes)}`, { metadata: { annotations: { turn: String(tick) } } }, tick);
    default:
      return change("PATCH", `${podPath((tick * 6971) % pods)}/status`, statusOf(tick, 1 + tick), tick);
  }
}

async function timed(into: number[], work: () => Promise<unknown>): Promise<void> {
  const from = performance.now();
  await work();
  into.push(performance.now() - from);
}

function latencies(work: string, values: number[], budgetMs?: number): void {
  values.sort((a, b) => a - b);
  const at = (share: number) => values[Math.min(values.length - 1, Math.floor(values.length * share))]!;
  show(`${work}, p50 (ms)`, at(0.5));
  show(`${work}, p99 (ms)`, at(0.99), budgetMs);
}

function show(work: string, measured: number, budget?: number): void {
  rows.push({ work, measured: Math.round(measured * 100) / 100, budget, isWithin: budget === undefined || measured <= budget });
  console.log(`${work}: ${measured.toFixed(2)}`);
}

function podPath(index: number): string {
  return `/api/v1/namespaces/${namespaceOf(index)}/pods/${podName(index)}`;
}

async function change(method: "POST" | "PATCH" | "DELETE", path: string, body: object, index: number): Promise<void> {
  const answer = await send(
    sessionOf(index),
    {
      ":method": method,
      ":path": path,
      "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
      "user-agent": "bench",
    },
    JSON.stringify(body),
  );
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}`);
}

async function read(session: ClientHttp2Session, path: string, headers = {}): Promise<void> {
  const answer = await send(session, { ":path": path, "user-agent": "bench", ...headers });
  if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}`);
}

/** Page after page, each with the token of the one before. */
async function readPages(path: string): Promise<void> {
  for (let next: string | undefined = ""; next !== undefined;) {
    const text: string = await readText(sessionOf(0), next === "" ? path : `${path}&continue=${encodeURIComponent(next)}`);
    next = /^.{0,200}"continue":"([^"]+)"/s.exec(text)?.[1];
  }
}

function readText(session: ClientHttp2Session, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":path": path, "user-agent": "bench" });
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => resolve(Buffer.concat(chunks).toString()));
    stream.on("error", reject);
  });
}
