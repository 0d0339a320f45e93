import { deepEqual } from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { guards } from "../../tools/teeth/guards.ts";

const root = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");

test("every guard that test:teeth takes away stands in its file once, and its test is there", () => {
  const moved = guards.filter(({ file, guard }) => read(file).split(guard).length !== 2).map(({ about, file }) => `${about}: ${file}`);
  const untested = guards.filter(({ test: file, name }) => !read(file).includes(name)).map(({ about, test: file }) => `${about}: ${file}`);
  deepEqual({ moved, untested }, { moved: [], untested: [] });
});
