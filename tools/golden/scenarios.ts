/** The recordings: which files there are, what server each wants, and which may share one. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { exchangeRecordings } from "./exchanges.ts";
import type { Answers } from "./webhook.ts";

/** A recording, as far as the replay has to understand it (the engine beside the recordings knows the rest). */
export interface Scenario {
  readonly needs?: readonly string[];
  /** True, or the name of what it shares with others: not to be replayed side by side with those. */
  readonly alone?: boolean | string;
  readonly steps?: readonly Step[];
  readonly kubectl?: readonly Step[];
  readonly controllersFlags?: string;
  readonly config?: unknown;
  /** Of exchanges with a webhook: what it answers. */
  readonly webhookAnswers?: Answers;
}

export interface Step {
  readonly say?: string;
  readonly do?: { readonly method?: string; readonly path: string };
  readonly watch?: { readonly path: string };
  readonly until?: { readonly method?: string; readonly path: string };
  readonly quiet?: { readonly lists: readonly string[] };
  readonly during?: readonly Step[];
  readonly args?: readonly string[];
  readonly settle?: boolean;
  readonly since?: number;
  readonly expect?: unknown;
}

export interface Recording {
  /** Relative to the folder of recordings: `kinds/pods.json`. */
  readonly file: string;
  readonly area: string;
  readonly scenario: Scenario;
}

/** Recordings that are replayed on servers started alike. */
export interface Group {
  readonly area: string;
  /** What the servers need: `apiserver`, `controllers`, `flag:--x=y`, `admission:NAME`, … */
  readonly needs: readonly string[];
  readonly controllersFlags: string;
  readonly config: unknown;
  readonly recordings: readonly Recording[];
}

/** The recordings below `paths`, each an area (`kinds`) or a path (`kinds/pods.json`, also from the working directory); all when there are none. */
export function findRecordings(folder: string, paths: readonly string[]): Recording[] {
  const places = paths.length > 0 ? paths.map((name) => locate(folder, name)) : [folder];
  const files = places.flatMap((place) => (statSync(place).isDirectory() ? globSync(`${place}/**/*.json`).sort() : [place]));
  return files.flatMap((file) => {
    const content = JSON.parse(readFileSync(file, "utf8"));
    const scenario = content as Scenario;
    const name = path.relative(folder, file);
    const area = name.split(path.sep)[0]!;
    // (without steps it is exchanges, or data)
    return comparedSteps(scenario).length === 0 ? exchangeRecordings(name, area, content) : [{ file: name, area, scenario }];
  });
}

/** Areas do not share servers: each was recorded on servers of its own. */
export function groupRecordings(recordings: readonly Recording[]): Group[] {
  const groups = Map.groupBy(recordings, ({ area, scenario }) =>
    JSON.stringify([area, scenario.needs ?? ["apiserver"], scenario.controllersFlags, scenario.config, scenario.kubectl !== undefined]),
  );
  return [...groups.values()].map((list) => {
    const { area, scenario } = list[0]!;
    return { area, needs: scenario.needs ?? ["apiserver"], controllersFlags: scenario.controllersFlags ?? "", config: scenario.config, recordings: list };
  });
}

/** The steps of a recording that are compared, in the file's order; their numbers, from 1, are how test/golden-differences.json names them. */
export function comparedSteps(scenario: Scenario): Step[] {
  const collect = (steps: readonly Step[]): Step[] => steps.flatMap((step) => [...(step.expect === undefined ? [] : [step]), ...collect(step.during ?? [])]);
  const steps = scenario.steps ?? scenario.kubectl;
  return Array.isArray(steps) ? collect(steps) : [];
}

function locate(folder: string, name: string): string {
  const place = [path.join(folder, name), path.resolve(name), path.join(folder, `${name}.json`)].find((candidate) => existsSync(candidate));
  if (place === undefined) {
    console.error(`There is no recording ${name} in ${folder}.`);
    process.exit(2);
  }
  return place;
}
