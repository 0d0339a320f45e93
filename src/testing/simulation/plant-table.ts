/** What came of the faults that were planted: by controller, which of them a simulation found. Filled by `simulate`, printed when all have run. */
import { plants } from "./planted-transport.ts";
import type { Plant } from "./planted-transport.ts";

const found = new Map<string, Map<Plant, boolean>>();

/** Notes whether a simulation of a controller failed with the plant in it: one of several is enough. */
export function notePlant(controller: string, plant: Plant, isFound: boolean): void {
  const row = found.get(controller) ?? new Map<Plant, boolean>();
  found.set(controller, row.set(plant, isFound || row.get(plant) === true));
}

/** The table, and the share of the plants that were found, from 0 to 1; undefined when none were planted. */
export function plantTable(): { readonly text: string; readonly share: number } | undefined {
  if (found.size === 0) return undefined;
  const cell = (row: ReadonlyMap<Plant, boolean>, plant: Plant) => (row.has(plant) ? (row.get(plant) === true ? "found" : "NOT") : "-").padEnd(plantWidth);
  const rows = [...found].map(([controller, row]) => `${controller.padEnd(nameWidth)}${plants.map((plant) => cell(row, plant)).join("")}`.trimEnd());
  const all = [...found.values()].flatMap((row) => [...row.values()]);
  const hits = all.filter(Boolean).length;
  const heads = `${"controller".padEnd(nameWidth)}${plants.map((plant) => plant.padEnd(plantWidth)).join("")}`.trimEnd();
  const share = hits / all.length;
  return { text: [heads, ...rows, `${hits} of ${all.length} plants found (${(share * 100).toFixed(1)} %)`].join("\n"), share };
}

const nameWidth = 52;
const plantWidth = 12;
