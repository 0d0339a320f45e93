import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CriLog } from "./cri-log.ts";
import { commandLine, findExecutable } from "./programs-of-images.ts";
import { onTerminal } from "./terminal.ts";

test("log: whole lines, parts of lines, what is left at the end, reopening", () => {
  const directory = mkdtempSync(join(tmpdir(), "cri-log-"));
  const path = join(directory, "a/b.log");
  const log = new CriLog(path, () => Date.UTC(2026, 0, 2, 3, 4, 5, 6));
  log.write("stdout", Buffer.from("one\ntw"));
  log.write("stderr", Buffer.from("error\n"));
  log.write("stdout", Buffer.from("o\n"));
  log.write("stdout", Buffer.from(`${"x".repeat(16 * 1024 + 1)}\nlast`));
  renameSync(path, `${path}.1`);
  log.reopen();
  log.end("stdout");
  log.end("stderr");
  log.close();
  const time = "2026-01-02T03:04:05.006000000Z";
  const lines = ["stdout F one", "stderr F error", "stdout F two", `stdout P ${"x".repeat(16 * 1024)}`, "stdout F x"];
  assert.equal(readFileSync(`${path}.1`, "utf8"), lines.map((line) => `${time} ${line}\n`).join(""));
  assert.equal(readFileSync(path, "utf8"), `${time} stdout P last\n`);
  rmSync(directory, { recursive: true });
});

const program = { entrypoint: ["/entry"], command: ["default"] };
const commandLines: [name: string, command: string[], args: string[], expected: string[]][] = [
  ["neither", [], [], ["/entry", "default"]],
  ["args", [], ["x"], ["/entry", "x"]],
  ["command", ["/c"], [], ["/c"]],
  ["both", ["/c"], ["x"], ["/c", "x"]],
];
for (const [name, command, args, expected] of commandLines) {
  test(`command line: ${name}`, () => {
    assert.deepEqual(commandLine({ metadata: { name: "a", attempt: 0 }, image: { image: "a" }, command, args }, program), expected);
  });
}

const executables: [command: string, expected: object][] = [
  ["sh", { file: "/bin/sh" }],
  ["/bin/sh", { file: "/bin/sh" }],
  ["no-such-program", { error: 'exec: "no-such-program": executable file not found in $PATH' }],
  ["/no/such", { error: 'exec: "/no/such": stat /no/such: no such file or directory' }],
  ["/etc/passwd", { error: 'exec: "/etc/passwd": permission denied' }],
  ["/etc", { error: 'exec: "/etc": permission denied' }],
];
for (const [command, expected] of executables) {
  test(`executable: ${command}`, async () => assert.deepEqual(await findExecutable(command, "/no/such:/bin", "/"), expected));
}

test("a terminal's command survives quotes", () => {
  assert.equal(onTerminal(["echo", "it's"], "/t")[5], `tty > '/t'; exec 'echo' 'it'\\''s'`);
});
