// `npm run layers`: the import rules of the architecture. Fails with file and line on an import that a module may not have.
//
//   node tools/layers.ts [--map | --report]     --map: the table, for ARCHITECTURE.md; --report: counts imports past a module's face
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

interface Layer {
  readonly modules: readonly string[];
  readonly holds: string;
  /** What its files may import besides their own module: names of modules, or everything. */
  readonly imports: readonly string[] | "everything";
}

const ground = ["base", "apimachinery"];
const client = [...ground, "api", "client"];
const layers: readonly Layer[] = [
  { modules: ["base"], holds: "clock, random, ids, task group, backoff, bounded queue, heap, log, metrics", imports: [] },
  { modules: ["apimachinery"], holds: "object model without kinds: meta, quantity, selectors, decoders, patches, apply, protobuf, CEL", imports: ["base"] },
  { modules: ["api"], holds: "the kinds: a folder per group-version: types, defaults, validation, columns", imports: ground },
  { modules: ["storage"], holds: "the store (bytes and revisions, knows no Pods): memory, lmdb, etcd", imports: ["base"] },
  { modules: ["client"], holds: "requests as values, transports, informers, listers, work queue, leader election, events", imports: [...ground, "api"] },
  { modules: ["operator"], holds: "the public SDK for writing operators; the built-in controllers are written on it", imports: client },
  {
    modules: ["apiserver"],
    holds: "the front door: pipeline, registry, strategies, watch cache, discovery, tables, streaming",
    imports: [...ground, "api", "storage"],
  },
  { modules: ["host"], holds: "what the machine offers: programs, nft, mounts, namespaces, cgroups", imports: ["base"] },
  {
    modules: ["controllers", "scheduler", "kubelet", "proxy", "dns", "network", "cloud", "metrics", "storage-provisioner", "joining"],
    holds: "the components: each reads and writes through the API only, and none imports another",
    imports: [...client, "operator", "host"],
  },
  { modules: ["lab", "cli", "console"], holds: "tools for people", imports: [...client, "operator", "host"] },
  { modules: ["testing"], holds: "builders, cluster on a virtual clock, scenario runner, faults; imported only by tests", imports: "everything" },
  { modules: ["cluster"], holds: "composition root: flags, certificates, processes, signals, real clock, disk, network", imports: "everything" },
];

const layerOf = new Map(layers.flatMap((layer) => layer.modules.map((module) => [module, layer] as const)));
const root = path.dirname(import.meta.dirname);

if (process.argv.includes("--map")) console.log(map());
else process.exitCode = check(process.argv.includes("--report"));

interface Import {
  readonly file: string;
  readonly line: number;
  readonly from: string;
  readonly to: string;
  readonly target: string;
}

function check(withReport: boolean): number {
  const files = globSync("src/**/*.ts", { cwd: root }).sort();
  const imports = files.flatMap(importsOf);
  const faults = imports.flatMap((one) => {
    const fault = faultOf(one);
    return fault === undefined ? [] : [`${one.file}:${one.line}: ${fault}`];
  });
  for (const fault of faults) console.error(fault);
  console.log(`layers: ${files.length} files, ${imports.length} imports between modules, ${faults.length} not allowed`);
  if (withReport) report(imports);
  return faults.length > 0 ? 1 : 0;
}

function faultOf({ file, from, to }: Import): string | undefined {
  const layer = layerOf.get(from);
  if (layer === undefined) return `src/${from} is in no layer: add it to tools/layers.ts`;
  if (file.endsWith(".test.ts")) return undefined;
  if (to === "testing" && from !== "testing") return "src/testing is imported by tests only";
  if (layer.imports === "everything" || layer.imports.includes(to)) return undefined;
  return `${from} may not import ${to} (it may: ${layer.imports.join(", ") || "nothing"})`;
}

/** The imports of a file that lead into another module. */
function importsOf(file: string): Import[] {
  const from = moduleOf(file);
  const text = withoutComments(readFileSync(path.join(root, file), "utf8"));
  return [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g)].flatMap(({ 1: specifier, index }) => {
    const target = path.join(path.dirname(file), specifier!);
    const to = moduleOf(target);
    return to === from ? [] : [{ file, line: text.slice(0, index).split("\n").length, from, to, target }];
  });
}

/** The top folder below src/ (or where else a path leads, such as `..`). */
function moduleOf(file: string): string {
  const [source, module] = file.split(path.sep);
  return source === "src" ? module!.replace(/\.ts$/, "") : source!;
}

/** The same text with comments blanked, so that places stay the same. */
function withoutComments(text: string): string {
  return text.replace(/^\s*\/\/.*$/gm, (line) => " ".repeat(line.length)).replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "));
}

function report(imports: readonly Import[]): void {
  const deep = imports.filter(({ file, target }) => !file.endsWith(".test.ts") && path.basename(target) !== "index.ts");
  const counts = new Map<string, number>();
  for (const { from, to } of deep) counts.set(`${from} → ${to}`, (counts.get(`${from} → ${to}`) ?? 0) + 1);
  console.log(`${deep.length} imports lead past a module's index.ts:`);
  for (const [pair, count] of [...counts].sort(([, a], [, b]) => b - a)) console.log(`${String(count).padStart(6)}  ${pair}`);
}

/** The layers as a Markdown table. */
function map(): string {
  const rows = layers.map(({ modules, holds, imports }) => {
    const names = imports === "everything" ? imports : imports.map((name) => `\`${name}\``).join(", ") || "–";
    return `| ${modules.map((name) => `\`${name}/\``).join(" ")} | ${holds} | ${names} |`;
  });
  return ["| folder of `src/` | what it holds | may import |", "|---|---|---|", ...rows].join("\n");
}
