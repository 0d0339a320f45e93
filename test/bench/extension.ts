/**
 * `npm run bench extension [-- --only PART,… --bundle FILE]`: typical CEL rules, in this process; custom resources against ConfigMaps of the
 * same size, and 500 definitions, on the API server alone in a process of its own. Kinds alternate in short rounds, so that both meet the same load of the machine. Exits 1 when a
 * figure is outside its budget.
 */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { activationOf, evaluate, fromJson } from "../../src/apimachinery/cel/index.ts";
import { compileRules } from "../../src/apiserver/customresources/rules/compiled-rules.ts";
import { connectionSettings, parseKubeconfig } from "../../src/client/index.ts";
import { Load, inFlight, send, watch } from "./api/load.ts";
import { MeasuredServer } from "./api/measured-server.ts";

interface Row {
  readonly work: string;
  readonly measured: number;
  readonly budget?: number;
}

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Of the collection in the namespace `bench`. */
  readonly path: string;
  readonly content: Readonly<Record<string, unknown>>;
}

const text = "x".repeat(600);
const kinds: readonly [Kind, Kind] = [
  { apiVersion: "v1", kind: "ConfigMap", path: "/api/v1/namespaces/bench/configmaps", content: { data: { text } } },
  { apiVersion: "bench.example.com/v1", kind: "Note", path: "/apis/bench.example.com/v1/namespaces/bench/notes", content: { spec: { text } } },
];
const specSchema = {
  type: "object",
  properties: {
    text: { type: "string", maxLength: 1000 },
    replicas: { type: "integer", minimum: 0, default: 1 },
    ports: {
      type: "array",
      maxItems: 10,
      items: { type: "object", required: ["port"], properties: { name: { type: "string" }, port: { type: "integer", maximum: 65535 } } },
    },
    labels: { type: "object", additionalProperties: { type: "string" } },
  },
};

const rounds = 12;
const createsPerRound = 500;
const listsPerRound = 5;

const { values: options } = parseArgs({ options: { only: { type: "string" }, bundle: { type: "string" }, port: { type: "string", default: "16452" } } });
const rows: Row[] = [];
await using server = await MeasuredServer.start({
  port: Number(options.port),
  nodeFlags: ["--expose-gc"],
  ...(options.bundle !== undefined && { bundle: options.bundle }),
});
await using load = new Load(await connectionSettings(parseKubeconfig(await server.kubeconfig), (file) => readFile(file)));
const sessions = await load.connect(4);
const sessionOf = (index: number) => sessions[index % sessions.length]!;
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/** Of all definitions so far; the last one to come wakes who waits. */
let events = 0;
let wake = () => {};

await watch(sessionOf(0), `${definitions}?watch=true`, (count) => {
  events += count;
  wake();
});
// Definitions come first: what objects leave behind would hide the memory that they take.
const parts: Readonly<Record<string, () => Promise<void>>> = { rules: measureRules, definitions: measureDefinitions, objects: measureObjects };
for (const name of options.only?.split(",") ?? Object.keys(parts)) await parts[name]!();
console.table(rows);
console.log(JSON.stringify(rows));
process.exitCode = rows.some(({ measured, budget }) => budget !== undefined && measured > budget) ? 1 : 0;

/** Rules of the kinds that definitions of real projects have: the median of rounds of 20,000 evaluations, with a new view of the object for each. */
async function measureRules(): Promise<void> {
  const spec = { replicas: 3, minReplicas: 1, maxReplicas: 10, name: "web-1", paths: ["/a", "/b", "/c"], mode: "Auto" };
  const typical = [
    "self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas",
    "self.mode == 'Auto' ? has(self.paths) && size(self.paths) > 0 : !has(self.paths)",
    "self.name.startsWith('web-') && self.name.size() <= 63",
    "self.paths.all(path, path.startsWith('/'))",
    "self.mode == oldSelf.mode || self.mode in ['Auto', 'Manual']",
  ];
  const integer = { type: "integer" };
  const properties = {
    replicas: integer,
    minReplicas: integer,
    maxReplicas: integer,
    name: { type: "string" },
    paths: { type: "array", items: { type: "string" } },
    mode: { type: "string" },
  };
  const compiled = compileRules({ type: "object", properties, "x-kubernetes-validations": typical.map((rule) => ({ rule })) }, false)!;
  for (const { source, program } of compiled.rules) {
    const once = () => {
      const self = fromJson(spec, compiled.declared.type);
      const result = evaluate(program!, activationOf({ self, oldSelf: self }));
      if (!("value" in result) || result.value !== true) throw new Error(`${source.rule} does not hold`);
    };
    const times = Array.from({ length: 9 }, () => {
      const from = performance.now();
      for (let index = 0; index < 20_000; index++) once();
      return (performance.now() - from) / 20;
    });
    rows.push({ work: `rule ${source.rule} (µs)`, measured: round(times.sort((a, b) => a - b)[4]!), budget: 5 });
  }
}

async function measureObjects(): Promise<void> {
  await post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "bench" } });
  await define("bench.example.com", "notes", "Note");
  for (const kind of kinds) await inFlight(100, 2_000, (index) => create(kind, `warm-${index}`));
  const creates = await alternate((kind, round) =>
    timed(createsPerRound, () => inFlight(100, createsPerRound, (index) => create(kind, `round-${round}-${index}`))),
  );
  report("create 1 KB durable, 100 in flight", creates);
  const lists = await alternate((kind) => timed(listsPerRound, () => inFlight(2, listsPerRound, (index) => read(kind.path, index))));
  report(`list of ${(2_000 + rounds * createsPerRound).toLocaleString("en")}`, lists);
}

/** 500 definitions, one after the other, by a client that watches them; each counts as served when a list of its objects is answered. */
async function measureDefinitions(): Promise<void> {
  const group = "many.example.com";
  for (let index = 0; index < 20; index++) await define("warm.example.com", `warms${index}`, `Warm${index}`);
  await server.collectGarbage();
  const before = await server.privateMiB();
  const { cpuMicros, micros } = await timed(500, async () => {
    for (let index = 0; index < 500; index++) await define(group, `things${index}`, `Thing${index}`);
  });
  await server.collectGarbage();
  const after = await server.privateMiB();
  rows.push({ work: "500 definitions, each until it is served (ms)", measured: round(micros / 1000), budget: 10 });
  rows.push({ work: "500 definitions, CPU each (ms)", measured: round(cpuMicros / 1000) });
  rows.push({ work: "500 definitions, private memory each (kB)", measured: round(((after - before) * 1048.576) / 500), budget: 200 });
}

interface Cost {
  readonly cpuMicros: number;
  readonly micros: number;
}

/** The median of the rounds of each kind, which take turns in going first. */
async function alternate(measure: (kind: Kind, round: number) => Promise<Cost>): Promise<readonly [Cost, Cost]> {
  const costs: [Cost[], Cost[]] = [[], []];
  for (let index = 0; index < rounds; index++) {
    for (const which of index % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) costs[which].push(await measure(kinds[which], index));
  }
  // CPU comes in steps of 10 ms, so that it is summed; of the clock the middle round counts, since others use the machine, too.
  const joined = (of: readonly Cost[]) => ({
    cpuMicros: of.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0) / of.length,
    micros: of.map(({ micros }) => micros).sort((a, b) => a - b)[rounds / 2]!,
  });
  return [joined(costs[0]), joined(costs[1])];
}

function report(work: string, [builtIn, custom]: readonly [Cost, Cost]): void {
  rows.push({ work: `${work}: ConfigMap, CPU each (µs)`, measured: round(builtIn.cpuMicros) });
  rows.push({ work: `${work}: custom, CPU each (µs)`, measured: round(custom.cpuMicros) });
  rows.push({ work: `${work}: custom by ConfigMap, CPU`, measured: round(custom.cpuMicros / builtIn.cpuMicros), budget: 1.3 });
  rows.push({ work: `${work}: custom by ConfigMap, by the clock`, measured: round(custom.micros / builtIn.micros) });
}

async function timed(count: number, work: () => Promise<void>): Promise<Cost> {
  const cpuBefore = await server.cpuSeconds();
  const from = performance.now();
  await work();
  const micros = ((performance.now() - from) * 1000) / count;
  return { micros, cpuMicros: (((await server.cpuSeconds()) - cpuBefore) * 1e6) / count };
}

function round(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}

async function create({ path, apiVersion, kind, content }: Kind, name: string): Promise<void> {
  await post(path, { apiVersion, kind, metadata: { namespace: "bench", name, labels: { app: "bench" } }, ...content }, Number(/\d+$/.exec(name)));
}

/** A definition with a schema of the usual kind; resolves when its objects are served. */
async function define(group: string, plural: string, kind: string): Promise<void> {
  const name = `${plural}.${group}`;
  const schema = { type: "object", properties: { spec: specSchema, status: { type: "object", properties: { ready: { type: "boolean" } } } } };
  const version = { name: "v1", served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } };
  await post(definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
    spec: { group, scope: "Namespaced", names: { plural, kind }, versions: [version] },
  });
  for (;;) {
    const before = events;
    if ((await send(sessionOf(1), { ":path": `/apis/${group}/v1/${plural}`, "user-agent": "bench" })).status === 200) return;
    if (events === before) await new Promise<void>((resolve) => (wake = resolve));
  }
}

async function post(path: string, body: unknown, index = 0): Promise<void> {
  const answer = await send(
    sessionOf(index),
    { ":method": "POST", ":path": path, "content-type": "application/json", "user-agent": "bench" },
    JSON.stringify(body),
  );
  if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}`);
}

async function read(path: string, index: number): Promise<void> {
  const answer = await send(sessionOf(index), { ":path": path, "user-agent": "bench" });
  if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}`);
}
