// `npm run golden [-- AREA or PATH…]`: replays recordings of a real API server against ours, and compares what differs with what is listed.
//
//   --all                also the files that stood below half at the baseline (they are left out unless named)
//   --update             rewrites test/golden-baseline.json with how the replayed files stand (implies --all)
//   --kubeconfig FILE    replays against a server that runs already, instead of starting servers
//   --show N             print the first N differences (40)      --json FILE   write all results there
//   --parallel N         recordings side by side on a server (6) --servers N   servers for recordings that must be alone (6)
//   --file-timeout S     seconds for one recording (300)         --minutes N   start no further recording after that time
//
// The recordings are in ../shared/golden, or where CORACLE_GOLDEN says. Exit code 1: a difference that is not listed (or more of them than at the
// baseline), or one that is listed in test/golden-differences.json and has gone. The last line is "N passed, N failed", counting recordings.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { replayGroup } from "./golden/replay.ts";
import { findRecordings, groupRecordings, type Group, type Recording } from "./golden/scenarios.ts";
import { judge, updatedBaseline, type Baseline, type FileResult, type ListedDifference } from "./golden/verdict.ts";

const root = path.dirname(import.meta.dirname);
const baselineFile = path.join(root, "test", "golden-baseline.json");
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    update: { type: "boolean", default: false },
    kubeconfig: { type: "string" },
    show: { type: "string", default: "40" },
    json: { type: "string" },
    parallel: { type: "string", default: "6" },
    servers: { type: "string", default: "6" },
    "file-timeout": { type: "string", default: "300" },
    minutes: { type: "string", default: "1000" },
  },
});

const folder = path.resolve(process.env.CORACLE_GOLDEN ?? path.join(root, "..", "shared", "golden"));
if (!existsSync(path.join(folder, "golden.mjs"))) {
  console.log(`There are no recordings at ${folder}: nothing to replay.`);
  process.exit(0);
}
const listed: ListedDifference[] = JSON.parse(readFileSync(path.join(root, "test", "golden-differences.json"), "utf8"));
const baseline: Baseline = JSON.parse(readFileSync(baselineFile, "utf8"));
const found = findRecordings(folder, positionals).filter(canRunHere);
const isFar = ({ file }: Recording) => (baseline[file]?.passed ?? 1) < (baseline[file]?.failed ?? 0);
const chosen =
  options.all || options.update || options.kubeconfig !== undefined || positionals.some((name) => name.includes("/"))
    ? found
    : found.filter((one) => !isFar(one));
const results: FileResult[] = [];
// (the servers are ended when the process exits)
for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) process.once(signal, () => process.exit(code));
await replay(chosen);
report();

/** Recordings with a kubelet in them need real containers. */
function canRunHere({ scenario }: Recording): boolean {
  return options.kubeconfig !== undefined || scenario.needs?.includes("kubelet") !== true || hasContainers();
}

function hasContainers(): boolean {
  return process.getuid?.() === 0 && spawnSync("containerd", ["--version"]).status === 0;
}

async function replay(recordings: readonly Recording[]): Promise<void> {
  const groups = groupRecordings(recordings);
  const hasSessions = recordings.some(({ scenario }) => scenario.kubectl !== undefined);
  if (options.kubeconfig === undefined && recordings.length > 0) buildServer();
  const kubectl = hasSessions ? kubectlPath() : "kubectl";
  const lastStart = Date.now() + Number(options.minutes) * 60_000;
  const replayOptions = {
    folder,
    lastStart,
    kubectl,
    kubeconfig: options.kubeconfig,
    parallel: Number(options.parallel),
    servers: Number(options.servers),
    fileTimeoutMs: Number(options["file-timeout"]) * 1000,
    onResult(result: FileResult) {
      results.push(result);
      if (process.stderr.isTTY) process.stderr.write(`\r${results.length}/${recordings.length} ${result.file}\x1b[K`);
    },
  };
  // Two groups at a time: most wait, or need a server of their own for one short file. Only one of them has a node: nodes of two clusters
  // on one machine share the pods' addresses.
  const [withNode = [], withoutNode = []] = [true, false].map((node) => groups.filter(({ needs }) => needs.includes("kubelet") === node));
  const work = async (...queues: Group[][]) => {
    const next = () => queues.find((queue) => queue.length > 0)?.shift();
    for (let group = next(); group !== undefined && Date.now() < lastStart; group = next()) await replayGroup(group, replayOptions);
  };
  await Promise.all(options.kubeconfig === undefined ? [work(withNode, withoutNode), work(withoutNode)] : [work(withNode, withoutNode)]);
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
}

/** One build before many servers ask for it: without it nothing can be said of any recording. */
function buildServer(): void {
  const { status } = spawnSync(process.execPath, [path.join(root, "tools", "build.ts")], { stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  console.log(`There is no server to replay ${chosen.length} recordings against.\n0 passed, ${chosen.length} failed`);
  process.exit(1);
}

/** The sessions run with a home of their own, where our cache is not: so ask once for the program itself. */
function kubectlPath(): string {
  const { stdout, status } = spawnSync(path.join(root, "bin", "kubectl"), {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, CORACLE_KUBECTL: "path" },
  });
  if (status !== 0) process.exit(1);
  return stdout.trim();
}

function report(): never {
  results.sort((a, b) => (a.file < b.file ? -1 : 1));
  const limit = Number(options.show);
  const details = results.flatMap(({ file, failed }) => failed.slice(0, 3).map(({ step, detail }) => `${file} step ${step}: ${detail}`));
  for (const detail of details.slice(0, limit)) console.log(detail);
  if (details.length > limit) console.log(`… and more (--show N, or --json FILE for all)`);
  if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(results, undefined, 1));
  printTable();
  const { faults, better } = judge(results, listed, baseline);
  for (const file of found.filter((one) => !chosen.includes(one)).slice(0, 1))
    console.log(`${found.length - chosen.length} files that stood below half were left out, ${file.file} among them (--all replays them).`);
  if (options.kubeconfig === undefined && !hasContainers()) console.log("Recordings that need a kubelet were left out: that needs root and containerd.");
  if (results.length < chosen.length) console.log(`${chosen.length - results.length} files were not replayed: the time was up.`);
  if (better.length > 0 && !options.update)
    console.log(`${better.length} files stand better than the baseline (--update notes it): ${better.slice(0, 8).join(" ")}`);
  if (options.update) writeBaseline();
  else for (const fault of faults.slice(0, 100)) console.log(`✖ ${fault}`);
  const passed = results.reduce((sum, one) => sum + one.passed, 0);
  console.log(
    `golden: ${passed} steps passed, ${results.reduce((sum, one) => sum + one.failed.length, 0)} differ in ${results.length} recordings; recordings that are as expected, and not:`,
  );
  const unexpected = options.update ? 0 : new Set(faults.map((fault) => fault.split(/[: ]/)[0])).size;
  console.log(`${results.length - unexpected} passed, ${unexpected} failed`);
  process.exit(unexpected > 0 ? 1 : 0);
}

function printTable(): void {
  const rows = [...Map.groupBy(results, ({ area }) => area)].map(([area, files]) => {
    const passed = files.reduce((sum, one) => sum + one.passed, 0);
    const total = passed + files.reduce((sum, one) => sum + one.failed.length, 0);
    const whole = files.filter(({ failed }) => failed.length === 0).length;
    return [area, `${whole}/${files.length}`, `${passed}/${total}`, `${total === 0 ? 100 : ((passed / total) * 100).toFixed(1)} %`];
  });
  const table = [["area", "files", "steps", "rate"], ...rows];
  for (const [area, files, steps, rate] of table) console.log(`${area!.padEnd(18)}${files!.padStart(10)}${steps!.padStart(16)}${rate!.padStart(10)}`);
}

function writeBaseline(): void {
  const lines = Object.entries(updatedBaseline(baseline, results, listed)).map(
    ([file, { passed, failed }]) => `  ${JSON.stringify(file)}: { "passed": ${passed}, "failed": ${failed} }`,
  );
  writeFileSync(baselineFile, lines.length === 0 ? "{}\n" : `{\n${lines.join(",\n")}\n}\n`);
  console.log(`Wrote ${path.relative(root, baselineFile)}: ${lines.length} files are not whole.`);
}
