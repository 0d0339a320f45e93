// `npm run conformance`: whether docs/conformance.md has every name of Kubernetes' conformance tests once, and whether what it names is there.
//
// The names are in ../shared/reference, the recordings in ../shared/golden, or where CORACLE_GOLDEN says; where they are not beside the repository
// only the tests are looked for. Prints the counts of each section. Exit code 1: something is wrong with the table.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { countsOf, faultsOf, readTable } from "./conformance/table.ts";

const root = path.dirname(import.meta.dirname);
const shared = path.join(root, "..", "shared");
const recordings = path.resolve(process.env.CORACLE_GOLDEN ?? path.join(shared, "golden"));
const read = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : undefined);

const rows = readTable(readFileSync(path.join(root, "docs/conformance.md"), "utf8"));
const names = read(path.join(shared, "reference/conformance-tests.txt"))?.trim().split("\n");
const baseline = JSON.parse(readFileSync(path.join(root, "test/golden-baseline.json"), "utf8")) as Record<string, unknown>;
const differences = JSON.parse(readFileSync(path.join(root, "test/golden-differences.json"), "utf8")) as { file: string }[];
const faults = faultsOf(rows, {
  ...(names !== undefined && { names }),
  text: (file) => read(path.join(root, file)),
  hasRecording: (file) => (existsSync(recordings) ? existsSync(path.join(recordings, file)) : undefined),
  partial: new Set([...Object.keys(baseline), ...differences.map(({ file }) => file)]),
});
for (const fault of faults) console.error(fault);
for (const line of countsOf(rows)) console.log(line);
if (faults.length > 0) process.exitCode = 1;
