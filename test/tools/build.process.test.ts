/** Builds side by side, beside programs that run what is built: none of them fails. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const execute = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../..");

test("several builds at once do not disturb each other, nor the programs that run meanwhile", async () => {
  const build = () => execute(process.execPath, [path.join(root, "tools/build.ts")]);
  const running = { builds: true };
  const use = async () => {
    while (running.builds) assert.match((await execute(path.join(root, "bin/coracle"), ["version"])).stdout, /^coracle /);
  };
  const users = [use(), use()];
  try {
    await Promise.all([build(), build(), build()]);
  } finally {
    running.builds = false;
  }
  await Promise.all(users);
});
