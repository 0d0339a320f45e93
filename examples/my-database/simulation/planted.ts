/** Loaded before a test (`--import`): the sources have the plant that MYDB_PLANT names. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { plants } from "./plants.ts";

const plant = plants.find(({ rule }) => rule === process.env["MYDB_PLANT"]);
if (plant === undefined) throw new Error(`MYDB_PLANT names no plant: ${process.env["MYDB_PLANT"]}`);
const file = path.resolve(import.meta.dirname, "..", plant.file);
const parts = readFileSync(file, "utf8").split(plant.source);
if (parts.length !== 2) throw new Error(`the rule "${plant.rule}" is not once in ${plant.file}`);
const url = pathToFileURL(file).href;
registerHooks({
  load: (asked, context, next) =>
    asked === url ? { format: "module-typescript", shortCircuit: true, source: parts.join(plant.without) } : next(asked, context),
});
