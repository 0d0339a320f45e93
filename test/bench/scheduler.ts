/**
 * `npm run bench scheduler [-- --only WORKLOAD,… --scale SHARE --bundle FILE --port N --profile DIR --node-flag FLAG]`: the published scheduler benchmark's workloads
 * end to end, each on servers of its own, with the scheduler's own rate beside it. `--decisions` measures decisions alone, without any API, by the
 * processor time that they take.
 * Exits 1 when a row is under its threshold, or SchedulingBasic under 2,500 pods/s.
 */
import { parseArgs } from "node:util";
import { measureDecisions } from "./scheduler/decisions.ts";
import { runWorkload } from "./scheduler/run-workload.ts";
import { workloads } from "./scheduler/workloads.ts";
import type { Result } from "./scheduler/run-workload.ts";
import type { Batch, Workload } from "./scheduler/workloads.ts";

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    scale: { type: "string", default: "1" },
    bundle: { type: "string" },
    port: { type: "string", default: "16461" },
    profile: { type: "string" },
    decisions: { type: "boolean" },
    "node-flag": { type: "string", multiple: true },
  },
});
const scale = Number(options.scale);
const chosen = options.only?.split(",") ?? workloads.map(({ name }) => name);
const rows = workloads.filter(({ name }) => chosen.includes(name)).map(scaled);
if (options.decisions === true) {
  const decided = rows.map((workload) => {
    globalThis.gc?.();
    const result = measureDecisions(workload);
    console.log(JSON.stringify(result));
    return result;
  });
  console.table(decided);
  process.exit(decided.every(({ podsPerCpuSecond, wanted = 0 }) => podsPerCpuSecond >= wanted) ? 0 : 1);
}

const results: Result[] = [];
for (const workload of rows) {
  const nodeFlags = options.profile === undefined ? (options["node-flag"] ?? []) : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`];
  try {
    const result = await runWorkload(workload, {
      port: Number(options.port),
      nodeFlags,
      ...(options.bundle !== undefined && { bundle: options.bundle }),
    });
    console.log(JSON.stringify(result));
    results.push(result);
  } catch (error) {
    console.error(`${workload.name} failed:`, error);
  }
}
console.table(results);
console.log(JSON.stringify(results));
const wanted = ({ workload, threshold = 0 }: Result) => (workload === "SchedulingBasic" ? 2_500 : threshold);
process.exitCode =
  results.length < Math.max(1, rows.length) ||
  results.some((result) => result.perSecond < wanted(result) || result.decisionsPerSecond < 3 * (result.threshold ?? 0))
    ? 1
    : 0;

function scaled(workload: Workload): Workload {
  const share = (count: number) => Math.max(count === 0 ? 0 : 1, Math.round(count * scale));
  const { nodes, before, measured, leaving } = workload;
  const some = <T extends Batch>(batch: T): T => ({ ...batch, count: share(batch.count) });
  return { ...workload, nodes: share(nodes), before: some(before), measured: some(measured), ...(leaving && { leaving: some(leaving) }) };
}
