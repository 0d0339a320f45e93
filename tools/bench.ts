// `npm run bench NAME [-- ARG…]`: runs test/bench/NAME.ts, which prints a table and JSON and exits 1 when a figure is over its budget.
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import path from "node:path";

const folder = path.join(path.dirname(import.meta.dirname), "test", "bench");
const [name = "", ...args] = process.argv.slice(2);
const program = path.join(folder, `${name}.ts`);
if (!existsSync(program)) {
  const names = globSync(`${folder}/*.ts`).map((file) => path.basename(file, ".ts"));
  console.error(`usage: npm run bench NAME; there is ${names.sort().join(", ") || "no benchmark yet"}`);
  process.exit(2);
}
const { status } = spawnSync(process.execPath, ["--expose-gc", program, ...args], { stdio: "inherit" });
process.exit(status ?? 1);
