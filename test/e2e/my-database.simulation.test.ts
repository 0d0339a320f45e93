/** The example's own tests, run as its README says: the scenarios, and as many seeds as CORACLE_SEEDS says (20). */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const folder = path.resolve(import.meta.dirname, "../../examples/my-database");

test("MyDatabase on simulated PostgreSQL", async () => {
  const args = ["--conditions=coracle-source", "--test", "--test-reporter=tap", "simulation/*.test.ts"];
  const run = promisify(execFile)(process.execPath, args, { cwd: folder, maxBuffer: 64 << 20, env: { ...process.env, NODE_TEST_CONTEXT: undefined } });
  const { stdout } = await run.catch((error: Error & { stdout?: string }) => {
    throw new Error(
      `${(error.stdout ?? "")
        .split("\n")
        .filter((line) => !/^\s*(ok|#) /.test(line))
        .join("\n")}`,
      { cause: error },
    );
  });
  const seeds = Number(process.env["CORACLE_SEEDS"] ?? 20);
  assert.match(stdout, new RegExp(`^# pass ${seeds + 8}$`, "m"));
});
