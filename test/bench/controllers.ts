/**
 * `npm run bench controllers [-- --only WORK,… --scale SHARE --bundle FILE --port N --profile DIR --requests]`: a whole `coracle up --runtime simulated` on a
 * durable store in a process of its own, the load over TLS from another. Exits 1 when a row takes longer than its budget. `--requests`: who
 * asked for what in the time of each row (the audit log that tells it costs CPU).
 */
import { parseArgs } from "node:util";
import { loadavg } from "node:os";
import { idle } from "./controllers/idle.ts";
import { RequestLog } from "./controllers/request-log.ts";
import { autoscalers, deployments, jobs, namespace, replicas } from "./controllers/workloads.ts";
import type { Row, Workload } from "./controllers/workloads.ts";

const works: Readonly<Record<string, Workload>> = { deployments, replicas, namespace, jobs, autoscalers, idle };
const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    scale: { type: "string", default: "1" },
    bundle: { type: "string" },
    port: { type: "string", default: "16471" },
    profile: { type: "string" },
    requests: { type: "boolean", default: false },
  },
});
const rows: Row[] = [];
for (const name of options.only?.split(",") ?? Object.keys(works)) {
  const nodeFlags = options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`];
  await using requests = options.requests ? await RequestLog.open() : undefined;
  const made = await works[name]!(
    { port: Number(options.port), nodeFlags, ...(options.bundle !== undefined && { bundle: options.bundle }), ...(requests !== undefined && { requests }) },
    Number(options.scale),
  );
  for (const row of made) console.log(JSON.stringify({ ...row, load: loadavg()[0] }));
  rows.push(...made);
}
console.table(rows);
console.log(JSON.stringify(rows));
process.exitCode = rows.some(({ seconds, budget }) => budget !== undefined && seconds > budget) ? 1 : 0;
