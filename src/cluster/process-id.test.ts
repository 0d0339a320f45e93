import { after, test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockDataDirectory, readProcessId, removeProcessId, requireNoProcess, writeProcessId } from "./process-id.ts";

const folder = await mkdtemp(join(tmpdir(), "process-id-"));
after(() => rm(folder, { recursive: true }));
const file = join(folder, "coracle.pid");

test("process id: a process that runs is found, until it says that it ends", async () => {
  equal(await readProcessId(folder), undefined);
  await writeProcessId(folder);
  equal(await readProcessId(folder), process.pid);
  await removeProcessId(folder);
  await removeProcessId(folder);
  equal(await readProcessId(folder), undefined);
});

test("process id: what one process runs is refused to another", async () => {
  await requireNoProcess(folder);
  await writeProcessId(folder);
  await rejects(requireNoProcess(folder), { message: `process ${process.pid} already runs ${folder}: stop it with \`coracle down --data-dir ${folder}\`` });
  await removeProcessId(folder);
});

test("process id: of two that start at once one has the directory, and a lock whose process is gone hinders nobody", async () => {
  const lock = join(folder, "coracle.lock");
  await writeFile(lock, "4194304999 1\n");
  const message = `process ${process.pid} already runs ${folder}: stop it with \`coracle down --data-dir ${folder}\``;
  const both = await Promise.allSettled([lockDataDirectory(folder), lockDataDirectory(folder)]);
  deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  for (const one of both) if (one.status === "rejected") equal((one.reason as Error).message, message);
  await rejects(requireNoProcess(folder), { message });
  for (const one of both) if (one.status === "fulfilled") await one.value[Symbol.asyncDispose]();
  deepEqual(await readdir(folder), []);
  await using _again = await lockDataDirectory(folder);
});

test("process id: files that tell of no running process", async () => {
  await writeProcessId(folder);
  const [, start] = (await readFile(file, "utf8")).trim().split(" ");
  const table = [
    "",
    "\n",
    `${process.pid}\n`,
    `${process.pid} ${Number(start) + 1}\n`,
    `${process.pid} ${start}`,
    `-1 ${start}\n`,
    `0 ${start}\n`,
    "4194304999 1\n",
    "1 undefined\n",
    "nonsense 1\n",
  ];
  for (const text of table) {
    await writeFile(file, text);
    equal(await readProcessId(folder), undefined, JSON.stringify(text));
  }
});

test("process id: a file that cannot be read is told", async () => {
  await rm(file);
  await mkdir(file);
  await rejects(readProcessId(folder), { code: "EISDIR" });
});
