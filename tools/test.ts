// `npm test`: type check, lint, layers, build, then every test. Ends with the summary of node's test runner, in which each check counts as one test.
//
//   node tools/test.ts [PATH…]             the files and folders named (no checks)
//   node tools/test.ts --e2e [PATH…]       the long end-to-end runs, test/e2e/**/*.e2e.ts
//   node tools/test.ts --simulate [PATH…]  only *.simulation.test.ts; as many seeds as CORACLE_SEEDS (100), from CORACLE_FIRST_SEED (1) on where the simulation takes it
//   node tools/test.ts --plants [PATH…]    the same with faults planted in the controllers: prints which were found, fails under 95 %; and MyDatabase without each of its rules
//   --name PATTERN                         only tests whose name matches
//
// Pure tests share this process. A file named *.process.test.ts, or under test/e2e, starts programs and gets a process of its own.
// A skipped test that test/skips.txt does not list, with its reason, is a failure.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { finished } from "node:stream/promises";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { parseArgs } from "node:util";
import { plantTable } from "../src/testing/simulation/plant-table.ts";

const root = path.dirname(import.meta.dirname);
process.chdir(root);
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { e2e: { type: "boolean" }, simulate: { type: "boolean" }, plants: { type: "boolean" }, name: { type: "string" } },
});

if (options.plants === true) process.env["CORACLE_PLANTS"] = "1";
if (options.simulate === true) process.env["CORACLE_SEEDS"] ??= "100";

const checks: readonly { readonly name: string; readonly args: readonly string[] }[] = [
  { name: "type check", args: ["node_modules/.bin/tsc", "-p", "."] },
  { name: "format", args: ["node_modules/.bin/oxfmt", "--check"] },
  { name: "lint", args: ["node_modules/.bin/oxlint"] },
  { name: "layers", args: ["tools/layers.ts"] },
  // Tests that run the command would each build it, side by side.
  { name: "build", args: ["tools/build.ts"] },
];

const startedAt = performance.now();
const total = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 };
// A test that ends the process would otherwise end it with success.
let isComplete = false;
process.on("exit", () => {
  if (isComplete) return;
  console.error("The test run ended before its last test.");
  process.exitCode = 1;
});

const isPlainRun = positionals.length === 0 && options.e2e !== true && options.simulate !== true && options.plants !== true && options.name === undefined;
if (isPlainRun) for (const check of checks) runCheck(check.name, check.args);

const files = testFiles();
const isolated = files.filter((file) => file.endsWith(".process.test.ts") || file.startsWith(path.join("test", "e2e")));
const pure = files.filter((file) => !isolated.includes(file));
const skips: Skip[] = [];
await runTests(pure, { isolation: "none", timeout: 120_000 });
const isLong = options.e2e === true || options.simulate === true || options.plants === true;
await runTests(isolated, { isolation: "process", concurrency: 2, timeout: isLong ? 3_600_000 : 300_000 });

finish();

function finish(): never {
  const unlisted = unlistedSkips();
  const table = plantTable();
  if (table !== undefined) console.log(table.text);
  for (const { name, file, reason } of unlisted) console.log(`✖ skipped, and not in test/skips.txt: ${file}: ${name} (${reason})`);
  for (const [name, value] of Object.entries({ ...total, duration_ms: (performance.now() - startedAt).toFixed(3) })) console.log(`ℹ ${name} ${value}`);
  isComplete = true;
  process.exit(total.fail > 0 || total.cancelled > 0 || unlisted.length > 0 || (table !== undefined && table.share < 0.95) || total.tests === 0 ? 1 : 0);
}

function runCheck(name: string, args: readonly string[]): void {
  const from = performance.now();
  const result = spawnSync(process.execPath, args, { encoding: "utf8" });
  const isPassed = result.status === 0;
  if (!isPassed) console.log(`${result.stdout}${result.stderr}`.trimEnd());
  console.log(`${isPassed ? "✔" : "✖"} ${name} (${(performance.now() - from).toFixed(0)}ms)`);
  total.tests++;
  if (isPassed) total.pass++;
  else total.fail++;
}

function testFiles(): string[] {
  const pattern = options.e2e === true ? "*.e2e.ts" : options.simulate === true || options.plants === true ? "*.simulation.test.ts" : "*.test.ts";
  const places =
    positionals.length > 0 ? positionals : options.plants === true ? ["src/controllers", "test/e2e/my-database.simulation.test.ts"] : ["src", "test"];
  return places.flatMap((place) => (statSync(place).isDirectory() ? globSync(`${place}/**/${pattern}`).sort() : [path.normalize(place)]));
}

interface Skip {
  readonly file: string;
  readonly name: string;
  readonly reason: string;
}

/** What the runner says of a test that ended. */
interface TestEvent {
  readonly name: string;
  readonly file?: string | undefined;
  readonly skip?: string | boolean | undefined;
  readonly todo?: string | boolean | undefined;
  readonly details: { readonly type?: string | undefined };
}

async function runTests(group: string[], how: { isolation: "none" | "process"; concurrency?: number; timeout: number }): Promise<void> {
  if (group.length === 0) return;
  const events = run({ ...how, files: group, ...(options.name !== undefined && { testNamePatterns: [options.name] }) });
  let pending = 0;
  let hasBegun = false;
  let lastEventAt = performance.now();
  const count = (event: TestEvent, outcome: "pass" | "fail") => {
    const { name, file, skip, todo, details } = event;
    const why = skip ?? todo;
    if (why !== undefined && why !== false) skips.push({ file: path.relative(root, file ?? ""), name, reason: why === true ? "no reason given" : String(why) });
    if (details.type === "suite") total.suites++;
    else {
      total.tests++;
      const isEmptyFile = outcome === "pass" && path.resolve(name) === file;
      if (isEmptyFile) console.log(`✖ ${name}: ended without running a test`);
      total[skip !== undefined && skip !== false ? "skipped" : todo !== undefined && todo !== false ? "todo" : isEmptyFile ? "fail" : outcome]++;
    }
  };
  events.on("test:pass", (event) => count(event, "pass"));
  events.on("test:fail", (event) => count(event, "fail"));
  events.on("test:enqueue", () => {
    hasBegun = true;
    pending++;
  });
  events.on("test:complete", () => pending--);
  events.on("data", () => (lastEventAt = performance.now()));
  // The runner ends when nothing is left to wait for: what a test leaves behind (a timer, a socket) would keep it waiting for ever.
  const watch = setInterval(() => {
    // (Until the first test, files are being loaded.)
    if (how.isolation === "process" || !hasBegun || pending > 0 || performance.now() - lastEventAt < 10_000) return;
    console.log(`✖ a test left something running: ${process.getActiveResourcesInfo().join(", ")}`);
    total.tests++;
    total.fail++;
    finish();
  }, 1000);
  watch.unref();
  const printed = events.compose(withoutSummary).compose(spec);
  printed.pipe(process.stdout, { end: false });
  await finished(printed);
  clearInterval(watch);
}

/** The runner's own totals are of one group of files; ours are of all. */
async function* withoutSummary(source: AsyncIterable<{ type: string; data: { nesting?: number; message?: string } }>) {
  for await (const event of source) {
    const isTotal =
      event.type === "test:diagnostic" &&
      event.data.nesting === 0 &&
      /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) \d/.test(event.data.message ?? "");
    if (!isTotal) yield event;
  }
}

/** A line of test/skips.txt is `file | test's name, or * | reason`; lines that start with # are comments. */
function unlistedSkips(): Skip[] {
  const lines = readFileSync("test/skips.txt", "utf8").split("\n");
  const listed = lines.filter((line) => line.trim() !== "" && !line.startsWith("#")).map((line) => line.split("|").map((part) => part.trim()));
  return skips.filter((skip) => !listed.some(([file, name, reason]) => file === skip.file && (name === "*" || name === skip.name) && reason));
}
