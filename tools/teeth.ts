/**
 * `npm run test:teeth [-- WORD]`: takes away the guards of docs/security.md one by one, each in a copy of the sources, and checks that the guard's
 * test fails without it. WORD chooses guards whose class has it. Exits 1 when a test did not notice, or a guard is not where it was.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { guards } from "./teeth/guards.ts";
import type { Guard } from "./teeth/guards.ts";

const root = path.dirname(import.meta.dirname);
const word = process.argv[2] ?? "";
const copy = mkdtempSync(path.join(tmpdir(), "coracle-teeth-"));
let failures = 0;
try {
  for (const folder of ["src", "test", "tools"]) cpSync(path.join(root, folder), path.join(copy, folder), { recursive: true });
  for (const file of ["package.json", "tsconfig.json"]) cpSync(path.join(root, file), path.join(copy, file));
  symlinkSync(path.join(root, "node_modules"), path.join(copy, "node_modules"));
  for (const guard of guards.filter(({ about }) => about.includes(word))) {
    const fault = toothless(guard);
    console.log(`${fault === undefined ? "✔" : "✖"} ${guard.about}${fault === undefined ? "" : `: ${fault}`}`);
    if (fault !== undefined) failures++;
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;

/** Why a guard's test has no teeth, or undefined. */
function toothless({ file, guard, without, test, name }: Guard): string | undefined {
  const target = path.join(copy, file);
  const source = readFileSync(target, "utf8");
  if (source.split(guard).length !== 2) return `the guard is not once in ${file}`;
  writeFileSync(
    target,
    source.replace(guard, () => without),
  );
  const run = spawnSync(
    process.execPath,
    ["--test", "--test-timeout=20000", "--test-force-exit", `--test-name-pattern=${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, path.join(copy, test)],
    { encoding: "utf8", cwd: copy, timeout: 60_000, killSignal: "SIGKILL" },
  );
  writeFileSync(target, source);
  // What hangs has noticed, too.
  if (run.signal !== null) return undefined;
  const failed = Number(/^ℹ fail (\d+)/m.exec(run.stdout)?.[1] ?? 0) + Number(/^ℹ cancelled (\d+)/m.exec(run.stdout)?.[1] ?? 0);
  if (failed > 0) return undefined;
  return /^ℹ pass 0/m.test(run.stdout) ? `no test of that name in ${test}` : `the test passes without its guard`;
}
