/** What a replay means: every difference is listed with its reason, was there at the baseline, or fails the run. Pure. */

/** What became of one recording. */
export interface FileResult {
  readonly file: string;
  readonly area: string;
  readonly passed: number;
  readonly failed: readonly FailedStep[];
}

export interface FailedStep {
  /** Which of the compared steps, from 1, in the file's order. */
  readonly step: number;
  /** For people: the request and where the answers differ. */
  readonly detail: string;
}

/** An entry of test/golden-differences.json. `step` is the number of a step, or `*` for the whole file. */
export interface ListedDifference {
  readonly file: string;
  readonly step: number | "*";
  readonly reason: "security rule" | "upstream crash" | "runtime version" | "not yet";
  readonly note: string;
}

/** test/golden-baseline.json: by file, how it stood. A file that is not there is expected to pass. */
export type Baseline = Readonly<Record<string, { readonly passed: number; readonly failed: number }>>;

export interface Verdict {
  /** What fails the run, a line each. */
  readonly faults: readonly string[];
  /** Files that stand better than the baseline says. */
  readonly better: readonly string[];
}

/** Areas with waits in them may miss this part of their steps, since machines are noisy; the others, whose watches have time limits too, a thousandth. */
const noisyAreas: readonly string[] = ["controllers", "controllers-flags", "scheduler", "kubelet", "extension", "flags"];
const noise = 0.01;
const noiseElsewhere = 0.001;

export function judge(results: readonly FileResult[], listed: readonly ListedDifference[], baseline: Baseline): Verdict {
  const faults: string[] = [];
  const better: string[] = [];
  for (const [area, files] of Map.groupBy(results, (result) => result.area)) {
    const judged = files.map((result) =>
      judgeFile(
        result,
        listed.filter(({ file }) => file === result.file),
        baseline[result.file],
      ),
    );
    const missed = judged.reduce((sum, one) => sum + one.missed, 0);
    const steps = files.reduce((sum, { passed, failed }) => sum + passed + failed.length, 0);
    const isNoise = missed > 0 && missed <= steps * (noisyAreas.includes(area) ? noise : noiseElsewhere);
    if (!isNoise) faults.push(...judged.flatMap((one) => one.worse));
    faults.push(...judged.flatMap((one) => one.gone));
    better.push(...judged.flatMap((one) => (one.isBetter ? [one.file] : [])));
  }
  return { faults, better };
}

/** The baseline after a replay: what was replayed stands as it was found, files that pass leave it, the others stay. */
export function updatedBaseline(baseline: Baseline, results: readonly FileResult[], listed: readonly ListedDifference[]): Baseline {
  const next: Record<string, { passed: number; failed: number }> = { ...baseline };
  for (const result of results) {
    const { failed } = unlisted(result, listed);
    if (failed.length === 0) delete next[result.file];
    else next[result.file] = { passed: result.passed, failed: failed.length };
  }
  return Object.fromEntries(Object.entries(next).sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface FileVerdict {
  readonly file: string;
  readonly worse: readonly string[];
  /** How many steps are worse than expected. */
  readonly missed: number;
  readonly gone: readonly string[];
  readonly isBetter: boolean;
}

function judgeFile(result: FileResult, listed: readonly ListedDifference[], baseline: Baseline[string] | undefined): FileVerdict {
  const { file, passed } = result;
  const { failed, gone } = unlisted(result, listed);
  const allowed = baseline?.failed ?? 0;
  const missed = Math.max(0, failed.length - allowed);
  const total = passed + result.failed.length;
  const isWhole = listed.some(({ step }) => step === "*");
  const worse: string[] = [];
  if (missed > 0 && baseline !== undefined) worse.push(`${file}: ${failed.length} steps differ, ${allowed} at the baseline`);
  else if (baseline === undefined && !isWhole && passed < total * 0.9) worse.push(`${file}: only ${passed} of ${total} steps pass`);
  else if (missed > 0) worse.push(`${file}: steps that differ and are not listed: ${failed.map(({ step }) => step).join(", ")}`);
  return {
    file,
    worse,
    missed,
    gone: gone.map(({ step }) => `${file} step ${step}: is listed as a difference and is none any more`),
    isBetter: failed.length < allowed,
  };
}

/** The failed steps that no entry covers, and the entries that cover none. */
function unlisted(result: FileResult, listed: readonly ListedDifference[]): { failed: readonly FailedStep[]; gone: readonly ListedDifference[] } {
  const own = listed.filter(({ file }) => file === result.file);
  const covers = (entry: ListedDifference, { step }: FailedStep) => entry.step === "*" || entry.step === step;
  return {
    failed: result.failed.filter((step) => !own.some((entry) => covers(entry, step))),
    gone: own.filter((entry) => !result.failed.some((step) => covers(entry, step))),
  };
}
