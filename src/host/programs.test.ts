import assert from "node:assert/strict";
import { after, test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { readProcessTree } from "./processes.ts";
import { ProgramError, startPrograms } from "./programs.ts";

const programs = startPrograms({ clock: systemClock() });
after(() => programs.close());

const cases = [
  {
    name: "output and exit code",
    spec: { command: "sh", args: ["-c", "echo out; echo err >&2; exit 3"] },
    expect: { exitCode: 3, stdout: "out\n", stderr: "err\n" },
  },
  { name: "input", spec: { command: "cat", input: "hello" }, expect: { exitCode: 0, stdout: "hello", stderr: "" } },
  { name: "environment", spec: { command: "/bin/sh", args: ["-c", "echo $A"], env: { A: "b" } }, expect: { exitCode: 0, stdout: "b\n", stderr: "" } },
  { name: "working directory", spec: { command: "pwd", workingDirectory: "/usr" }, expect: { exitCode: 0, stdout: "/usr\n", stderr: "" } },
  { name: "a signal is 128 + its number", spec: { command: "sh", args: ["-c", "kill -9 $$"] }, expect: { exitCode: 137, stdout: "", stderr: "" } },
  {
    name: "output over the limit is cut",
    spec: { command: "sh", args: ["-c", "echo 123456"], outputLimitBytes: 3 },
    expect: { exitCode: 0, stdout: "123", stderr: "", isTruncated: true },
  },
  { name: "a timeout kills", spec: { command: "sleep", args: ["60"], timeoutMs: 20 }, expect: { exitCode: 137, stdout: "", stderr: "", timedOut: true } },
];

for (const { name, spec, expect } of cases) {
  test(`run: ${name}`, async () => {
    const result = await programs.run(spec);
    assert.deepEqual({ ...result, stdout: result.stdout.toString(), stderr: result.stderr.toString() }, { isTruncated: false, timedOut: false, ...expect });
  });
}

test("run: more output than the window", async () => {
  const result = await programs.run({ command: "head", args: ["-c", "3000000", "/dev/zero"], outputLimitBytes: 4_000_000 });
  assert.equal(result.stdout.length, 3_000_000);
});

test("run: abort kills and rejects with the reason", async () => {
  const controller = new AbortController();
  const running = programs.run({ command: "sleep", args: ["60"] }, controller.signal);
  controller.abort(new Error("enough"));
  await assert.rejects(running, /enough/);
});

test("a program that does not exist", async () => {
  await assert.rejects(programs.run({ command: "/no/such" }), (error) => error instanceof ProgramError && error.reason === "ENOENT");
});

test("start: streams both ways", async () => {
  const program = await programs.start({ command: "cat" });
  await program.write(Buffer.from("one "));
  await program.write(Buffer.from("two"));
  program.endInput();
  let text = "";
  for await (const chunk of program.stdout) text += Buffer.from(chunk).toString();
  assert.equal(text, "one two");
  assert.equal(await program.exited, 0);
});

test("a helper that is killed loses its programs; the next request makes a new one", async () => {
  const other = startPrograms({ clock: systemClock() });
  const program = await other.start({ command: "sleep", args: ["60"] });
  const helper = (await readProcessTree(process.pid)).find(({ pid }) => pid === program.pid)!.parentPid;
  process.kill(helper, "SIGKILL");
  await assert.rejects(program.exited, (error) => error instanceof ProgramError && error.reason === "LOST");
  process.kill(program.pid, "SIGKILL");
  assert.equal((await other.run({ command: "true" })).exitCode, 0);
  await other.close();
});

test("a detached program outlives the helper", async () => {
  const other = startPrograms({ clock: systemClock() });
  const { pid } = await other.startDetached({ command: "sleep", args: ["60"] });
  await other.close();
  assert.equal(process.kill(pid, 0), true);
  process.kill(pid, "SIGKILL");
});
