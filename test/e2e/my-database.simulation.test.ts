/**
 * The example's own tests, run as its README says: the scenarios, and as many seeds as CORACLE_SEEDS says (20). With CORACLE_PLANTS=1
 * (`npm run simulate:plants`) instead: without each of the rules in the example's `plants.ts`, the test that it names fails.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { plants } from "../../examples/my-database/simulation/plants.ts";

const folder = path.resolve(import.meta.dirname, "../../examples/my-database");
const hasPlants = process.env["CORACLE_PLANTS"] !== undefined;

if (hasPlants) {
  for (const { rule, test: file = "decisions.test.ts" } of plants)
    test(`found without its rule: ${rule}`, async () => {
      const env = { MYDB_PLANT: rule, CORACLE_TRIALS: "300" };
      await assert.rejects(runTests(`simulation/${file}`, ["--import", "./simulation/planted.ts"], env), /^not ok/m);
    });
} else {
  test("MyDatabase on simulated PostgreSQL", async () => {
    const seeds = Number(process.env["CORACLE_SEEDS"] ?? 20);
    assert.match(await runTests("simulation/*.test.ts"), new RegExp(`^# pass ${seeds + 10}$`, "m"));
  });
}

/** What a run printed; rejects with what failed in it. */
async function runTests(files: string, options: readonly string[] = [], env: Record<string, string> = {}): Promise<string> {
  const args = ["--conditions=coracle-source", ...options, "--test", "--test-reporter=tap", files];
  const run = promisify(execFile)(process.execPath, args, { cwd: folder, maxBuffer: 64 << 20, env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env } });
  const { stdout } = await run.catch((error: Error & { stdout?: string }) => {
    const lines = (error.stdout ?? "").split("\n").filter((line) => !/^\s*(ok|#) /.test(line));
    throw new Error(lines.join("\n"), { cause: error });
  });
  return stdout;
}
