import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";

const root = path.resolve(import.meta.dirname, "../..");

/** The messages of our rules for a source file of this name and text. */
function lint(name: string, text: string): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), "lint-"));
  try {
    writeFileSync(path.join(folder, name), text);
    const args = [path.join(root, "node_modules/.bin/oxlint"), "-c", path.join(root, ".oxlintrc.json"), "-f", "unix", folder];
    const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8", cwd: root });
    return stdout.split("\n").flatMap((line) => /: (.+) \[\w+\/coracle\(/.exec(line)?.[1] ?? []);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const banned = [
  ["Date.now()", "Date.now"],
  ["new Date()", "new Date()"],
  ["setTimeout(f, 1)", "setTimeout"],
  ["globalThis.setInterval(f, 1)", "globalThis.setInterval"],
  ["setImmediate(f)", "setImmediate"],
  ["Math.random()", "Math.random"],
  ["performance.now()", "performance.now"],
  ["process.hrtime()", "process.hrtime"],
  ["crypto.randomUUID()", "crypto.randomUUID"],
  ["AbortSignal.timeout(1)", "AbortSignal.timeout"],
] as const;

test("time, randomness and ids of the machine are refused", () => {
  const found = lint("a.ts", banned.map(([expression], index) => `export const v${index} = (f: () => void) => [f, ${expression}];`).join("\n"));
  assert.deepEqual(found.map((message) => message.split(" is not")[0]).sort(), banned.map(([, name]) => name).sort());
});

test("so are their modules", () => {
  const text =
    'import { setTimeout as a } from "node:timers/promises";\nimport { randomUUID, createHash } from "node:crypto";\nexport const used = [a, randomUUID, createHash];\n';
  assert.deepEqual(
    lint("a.ts", text).map((message) => message.split(" is not")[0]),
    ["node:timers/promises", "randomUUID of node:crypto"],
  );
});

test("what takes the time as an argument is not", () => {
  assert.deepEqual(lint("a.ts", "export const at = (nowMs: number, clock: { now(): number }) => [new Date(nowMs), clock.now()];\n"), []);
});

test("files are named after what they export, in kebab-case", () => {
  assert.match(lint("utils.ts", "export const a = 1;\n")[0] ?? "", /Name a file after what it exports/);
  assert.match(lint("PodSync.ts", "export const a = 1;\n")[0] ?? "", /kebab-case/);
});
