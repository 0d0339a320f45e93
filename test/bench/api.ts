/**
 * `npm run bench api [-- --only PART,… --bundle FILE]`: the API server alone, durable, in a process of its own, over TLS and HTTP/2. Beside each
 * rate stands the CPU that the server used, which counts where the machine is shared. Exits 1 when a figure is outside its budget.
 */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { ClientHttp2Session } from "node:http2";
import { connectionSettings, parseKubeconfig } from "../../src/client/index.ts";
import { Load, inFlight, send, watch } from "./api/load.ts";
import type { Answer } from "./api/load.ts";
import { MeasuredServer } from "./api/measured-server.ts";

interface Row {
  readonly work: string;
  readonly measured: number;
  readonly budget: number;
  readonly isWithin: boolean;
  readonly upstream: number | undefined;
  /** Microseconds of the server's CPU for one operation. */
  readonly "CPU µs each"?: number;
}

const { values: options } = parseArgs({ options: { only: { type: "string" }, bundle: { type: "string" }, port: { type: "string", default: "16451" } } });
const rows: Row[] = [];
await using server = await MeasuredServer.start({ port: Number(options.port), ...(options.bundle !== undefined && { bundle: options.bundle }) });
const settings = await connectionSettings(parseKubeconfig(await server.kubeconfig), (file) => readFile(file));
await using load = new Load(settings);
let sessions = await load.connect(4);
const sessionOf = (index: number) => sessions[index % sessions.length]!;

const parts: Readonly<Record<string, () => Promise<void>>> = {
  floor: measureFloor,
  create: measureCreates,
  get: measureGets,
  list: measureLists,
  block: measureBlock,
  watch: measureWatches,
};
const chosen = options.only?.split(",") ?? Object.keys(parts);
for (const name of chosen) await parts[name]!();
console.table(rows);
console.log(JSON.stringify(rows));
process.exitCode = rows.some(({ isWithin }) => !isWithin) ? 1 : 0;

/** What the same load gets from Node alone, here and now: ours is to reach half of it. */
async function measureFloor(): Promise<void> {
  const port = Number(options.port) + 1;
  await using floor = await server.floor(port);
  await using plain = new Load({ ...settings, url: `https://127.0.0.1:${port}` });
  const ours = sessions;
  sessions = await plain.connect(4);
  const path = "/api/v1/namespaces/floor/configmaps";
  await inFlight(100, 3_000, (index) => create("floor", `object-${index}`, 600));
  const creates = await timed(10_000, () => inFlight(100, 10_000, (index) => create("floor", `hundred-${index}`, 600)), floor);
  rows.push(atLeast("Node alone: create 1 KB durable, 100 in flight (/s)", creates.perSecond, { budget: 0, cpu: creates.cpuMicros }));
  const gets = await timed(40_000, () => inFlight(100, 40_000, (index) => read(sessionOf(index), `${path}/object-${index % 1_000}`)), floor);
  rows.push(atLeast("Node alone: GET by name, 100 in flight (/s)", gets.perSecond, { budget: 0, cpu: gets.cpuMicros }));
  sessions = ours;
}

async function measureCreates(): Promise<void> {
  await makeNamespace("creates");
  await inFlight(100, 3_000, (index) => create("creates", `warm-${index}`, 600));
  const latencies: number[] = [];
  for (let index = 0; index < 500; index++) {
    const from = performance.now();
    await create("creates", `one-${index}`, 600);
    latencies.push(performance.now() - from);
  }
  latencies.sort((a, b) => a - b);
  rows.push(atMost("create 1 KB durable, 1 client, p50 (ms)", latencies[250]!, { budget: 1, upstream: 1.7 }));
  const hundred = await timed(10_000, () => inFlight(100, 10_000, (index) => create("creates", `hundred-${index}`, 600)));
  rows.push(atLeast("create 1 KB durable, 100 in flight (/s)", hundred.perSecond, { budget: 7_500, upstream: 2_100, cpu: hundred.cpuMicros }));
}

async function measureGets(): Promise<void> {
  await makeNamespace("gets");
  await inFlight(100, 1_000, (index) => create("gets", `object-${index}`, 600));
  const get = (index: number) => read(sessionOf(index), `/api/v1/namespaces/gets/configmaps/object-${index % 1_000}`);
  await inFlight(100, 5_000, get);
  const gets = await timed(40_000, () => inFlight(100, 40_000, get));
  rows.push(atLeast("GET by name, 100 in flight (/s)", gets.perSecond, { budget: 22_000, upstream: 4_500, cpu: gets.cpuMicros }));
}

async function measureLists(): Promise<void> {
  await fill("lists", 21_700, 1_180);
  const list = (index: number) => read(sessionOf(index), "/api/v1/namespaces/lists/configmaps");
  const { bytes } = await list(0);
  console.log(`a list is ${(bytes / 1e6).toFixed(1)} MB`);
  await inFlight(16, 32, list);
  const before = await server.privateMiB();
  let most = before;
  const sampling = setInterval(() => void server.privateMiB().then((now) => (most = Math.max(most, now))), 50);
  const lists = await timed(96, () => inFlight(16, 96, list));
  clearInterval(sampling);
  rows.push(atLeast("LIST 21,700 objects, 34 MB, 16 at once (/s)", lists.perSecond, { budget: 12, upstream: 5, cpu: lists.cpuMicros }));
  rows.push(atMost("LIST 21,700 objects, private memory for each of 16 (MB)", ((most - before) * 1.048576) / 16, { budget: 8, upstream: 111 }));
  const zipped = await timed(16, () =>
    inFlight(4, 16, (index) => read(sessionOf(index), "/api/v1/namespaces/lists/configmaps", { "accept-encoding": "gzip" })),
  );
  rows.push({
    work: "LIST 21,700 objects, gzip, 4 at once (/s)",
    measured: round(zipped.perSecond),
    budget: 0,
    isWithin: true,
    upstream: undefined,
    "CPU µs each": Math.round(zipped.cpuMicros),
  });
}

async function measureBlock(): Promise<void> {
  await fill("blocks", 10_000, 1_180);
  const list = (headers = {}) => read(sessionOf(0), "/api/v1/namespaces/blocks/configmaps", headers);
  await list();
  for (const [form, headers] of Object.entries({
    JSON: {},
    "JSON in gzip": { "accept-encoding": "gzip" },
    Table: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
    protobuf: { accept: "application/vnd.kubernetes.protobuf" },
  })) {
    await server.longestBlockMs();
    for (let count = 0; count < 5; count++) await list(headers);
    rows.push(atMost(`event loop blocked, LIST 10,000 objects as ${form} (ms)`, await server.longestBlockMs(), { budget: 25 }));
  }
}

async function measureWatches(): Promise<void> {
  const watchers = 500;
  for (const { connections, budget, upstream } of [
    { connections: 10, budget: 235_000, upstream: 72_000 },
    { connections: 500, budget: 50_000, upstream: undefined },
  ]) {
    const namespace = `watches-${connections}`;
    await makeNamespace(namespace);
    const opened = await load.connect(connections);
    let delivered = 0;
    let reached = () => {};
    const changes = 600;
    const streams = await Promise.all(
      Array.from({ length: watchers }, (_, index) =>
        watch(opened[index % connections]!, `/api/v1/namespaces/${namespace}/configmaps?watch=true`, (count) => {
          delivered += count;
          if (delivered >= changes * watchers) reached();
        }),
      ),
    );
    // (kube-root-ca.crt and the like are made by controllers, which do not run here: the namespace is empty.)
    const all = new Promise<void>((resolve) => (reached = resolve));
    const events = await timed(changes * watchers, async () => {
      await inFlight(20, changes, (index) => create(namespace, `object-${index}`, 600));
      await all;
    });
    rows.push(
      atLeast(`watch events per CPU-second, ${watchers} watchers on ${connections} connections`, 1e6 / events.cpuMicros, {
        budget,
        upstream,
        cpu: events.cpuMicros,
      }),
    );
    for (const stream of streams) stream.close();
    for (const session of opened) session.destroy();
  }
}

async function timed(
  count: number,
  work: () => Promise<void>,
  measured: Pick<MeasuredServer, "cpuSeconds"> = server,
): Promise<{ perSecond: number; cpuMicros: number }> {
  const cpuBefore = await measured.cpuSeconds();
  const from = performance.now();
  await work();
  const seconds = (performance.now() - from) / 1000;
  return { perSecond: count / seconds, cpuMicros: (((await measured.cpuSeconds()) - cpuBefore) * 1e6) / count };
}

function atLeast(work: string, measured: number, { budget, upstream, cpu }: { budget: number; upstream?: number | undefined; cpu: number }): Row {
  return { work, measured: round(measured), budget, isWithin: measured >= budget, upstream, "CPU µs each": round(cpu) };
}

function atMost(work: string, measured: number, { budget, upstream }: { budget: number; upstream?: number }): Row {
  return { work, measured: round(measured), budget, isWithin: measured <= budget, upstream };
}

function round(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}

async function fill(namespace: string, count: number, dataBytes: number): Promise<void> {
  await makeNamespace(namespace);
  await inFlight(100, count, (index) => create(namespace, `object-${index}`, dataBytes));
}

async function makeNamespace(name: string): Promise<void> {
  await post("/api/v1/namespaces", { kind: "Namespace", apiVersion: "v1", metadata: { name } }, 0);
}

/** A ConfigMap whose data has `dataBytes` bytes: with 600 its JSON has about 1 KB. */
async function create(namespace: string, name: string, dataBytes: number): Promise<void> {
  const body = { kind: "ConfigMap", apiVersion: "v1", metadata: { namespace, name, labels: { app: "bench" } }, data: { text: "x".repeat(dataBytes) } };
  await post(`/api/v1/namespaces/${namespace}/configmaps`, body, Number(/\d+$/.exec(name)));
}

async function post(path: string, body: unknown, index: number): Promise<void> {
  const answer = await send(
    sessionOf(index),
    { ":method": "POST", ":path": path, "content-type": "application/json", "user-agent": "bench" },
    JSON.stringify(body),
  );
  if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}`);
}

async function read(session: ClientHttp2Session, path: string, headers = {}): Promise<Answer> {
  const answer = await send(session, { ":path": path, "user-agent": "bench", ...headers });
  if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}`);
  return answer;
}
