/** `coracle status --security`: each control with what was found, and whether all hold. */
import { Client } from "../../client/index.ts";
import { adminConnection } from "../connections/admin-connection.ts";
import { commandEnvironment } from "../environment.ts";
import { readProcessId } from "../process-id.ts";
import { controls } from "./controls.ts";
import type { SecurityFacts } from "./facts.ts";
import { gatherFacts } from "./gather-facts.ts";

/** Prints the report. Returns the exit code: 1 when a control fails. Rejects when nothing runs. */
export async function runSecurityStatus(dataDir: string): Promise<number> {
  const processId = await readProcessId(dataDir);
  if (processId === undefined) throw new Error(`nothing runs on ${dataDir}: only a running cluster can be checked`);
  const environment = commandEnvironment();
  await using admin = await adminConnection(dataDir, environment);
  const client = new Client({ transport: admin.transport, clock: environment.clock, userAgent: "coracle" });
  const { text, isGood } = report(await gatherFacts({ environment, dataDir, processId, client, url: admin.url }));
  process.stdout.write(text);
  return isGood ? 0 : 1;
}

export function report(facts: SecurityFacts): { readonly text: string; readonly isGood: boolean } {
  const judged = controls.map((control) => ({ ...control, verdict: control.judge(facts) }));
  const count = (state: string) => judged.filter(({ verdict }) => verdict.state === state).length;
  const widest = Math.max(...controls.map(({ title }) => title.length));
  const lines = judged.map(({ id, title, verdict }) => `${verdict.state.toUpperCase().padEnd(8)}${id.padEnd(8)}${title.padEnd(widest + 2)}${verdict.why}\n`);
  return { text: `${lines.join("")}\n${count("pass")} passed, ${count("fail")} failed, ${count("review")} to review\n`, isGood: count("fail") === 0 };
}
