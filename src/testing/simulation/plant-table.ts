/** What came of the faults that were planted: by controller, which of them a simulation found. Filled by `simulate`, printed when all have run. */
import { plants } from "./planted-transport.ts";
import type { Plant } from "./planted-transport.ts";

/** Found by a seed; missed by all; or no guard was there that it could take away. */
export type PlantOutcome = "found" | "missed" | "none";

const found = new Map<string, Map<Plant, PlantOutcome>>();

/** Notes what came of a plant in a simulation of a controller: one of several that finds it is enough. */
export function notePlant(controller: string, plant: Plant, outcome: PlantOutcome): void {
  const row = found.get(controller) ?? new Map<Plant, PlantOutcome>();
  const outcomes = [outcome, row.get(plant)];
  found.set(controller, row.set(plant, outcomes.includes("found") ? "found" : outcomes.includes("missed") ? "missed" : "none"));
}

/** The table, and the share of the plants that were found, from 0 to 1; undefined when none were planted. */
export function plantTable(): { readonly text: string; readonly share: number } | undefined {
  if (found.size === 0) return undefined;
  const cell = (row: ReadonlyMap<Plant, PlantOutcome>, plant: Plant) => outcomeTexts[row.get(plant) ?? "none"].padEnd(plantWidth);
  const rows = [...found].map(([controller, row]) => `${controller.padEnd(nameWidth)}${plants.map((plant) => cell(row, plant)).join("")}`.trimEnd());
  const all = [...found.values()].flatMap((row) => [...row.values()]).filter((outcome) => outcome !== "none");
  const hits = all.filter((outcome) => outcome === "found").length;
  const heads = `${"controller".padEnd(nameWidth)}${plants.map((plant) => plant.padEnd(plantWidth)).join("")}`.trimEnd();
  const share = all.length === 0 ? 1 : hits / all.length;
  return { text: [heads, ...rows, `${hits} of ${all.length} plants found (${(share * 100).toFixed(1)} %)`].join("\n"), share };
}

const outcomeTexts: Record<PlantOutcome, string> = { found: "found", missed: "NOT", none: "-" };
const nameWidth = 52;
const plantWidth = 12;
