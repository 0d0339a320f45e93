import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { countsOf, faultsOf, readTable, type Surroundings } from "../../tools/conformance/table.ts";

const surroundings: Surroundings = {
  names: ["[sig-node] Pods should run [Conformance]", "[sig-node] Pods should end [Conformance] [NodeConformance]"],
  text: (file) => (file === "a.test.ts" ? 'test("runs", () => {});' : undefined),
  hasRecording: (file) => file.startsWith("kinds/"),
  partial: new Set(["kinds/part.json"]),
};
const run = "| Pods should run | `a.test.ts` › `runs` |";
const end = "| Pods should end [NodeConformance] | not yet: hooks |";

const table: [name: string, lines: string[], faults: string[]][] = [
  ["as it should be", [run, end], []],
  ["a recording and a test", ["| Pods should run | `golden/kinds/a.json`<br>`a.test.ts` › `runs` |", end], []],
  ["a name that is missing", [run], ["[sig-node] Pods should end [NodeConformance]: is not in the table"]],
  ["a name that nobody knows", [run, end, "| Pods should fly | not yet: wings |"], ["[sig-node] Pods should fly: is no conformance test"]],
  ["a name twice", [run, run, end], ["[sig-node] Pods should run: is in the table 2 times"]],
  ["no such file", ["| Pods should run | `b.test.ts` › `runs` |", end], ["[sig-node] Pods should run: there is no b.test.ts"]],
  ["no such test", ["| Pods should run | `a.test.ts` › `walks` |", end], ['[sig-node] Pods should run: a.test.ts has no "walks"']],
  ["no such recording", ["| Pods should run | `golden/none/a.json` |", end], ["[sig-node] Pods should run: there is no golden/none/a.json"]],
  [
    "a recording that differs",
    ["| Pods should run | `golden/kinds/part.json` |", end],
    ["[sig-node] Pods should run: golden/kinds/part.json does not stand whole"],
  ],
  ["a cell that says nothing", ["| Pods should run | surely |", end], ["[sig-node] Pods should run: cannot be read: surely"]],
  [
    "one of two that cannot be read",
    ["| Pods should run | `a.test.ts` › `runs`<br>surely |", end],
    ["[sig-node] Pods should run: cannot be read: `a.test.ts` › `runs`<br>surely"],
  ],
];
for (const [name, lines, faults] of table) {
  test(`conformance table: ${name}`, () => {
    const rows = readTable(["## Node: [sig-node]", "| Conformance test | Shown by |", "|---|---|", ...lines].join("\n"));
    assert.deepEqual(faultsOf(rows, surroundings), faults);
  });
}

test("conformance table: without what lies beside the repository only tests are looked for", () => {
  const rows = readTable(["## Node: [sig-node]", "| Pods should run | `golden/none/a.json`<br>`b.test.ts` › `runs` |"].join("\n"));
  const { names: _, ...rest } = surroundings;
  assert.deepEqual(faultsOf(rows, { ...rest, hasRecording: () => undefined }), ["[sig-node] Pods should run: there is no b.test.ts"]);
});

test("conformance table: counts", () => {
  const rows = readTable(["## Node: [sig-node]", run, end, "## Apps: [sig-apps]", end].join("\n"));
  assert.deepEqual(countsOf(rows), ["[sig-node]: 2 names, 1 shown, 1 not yet", "[sig-apps]: 1 names, 0 shown, 1 not yet", "all: 3 names, 1 shown, 2 not yet"]);
});

test("docs/conformance.md names what is there", () => {
  const root = path.resolve(import.meta.dirname, "../..");
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(root, "tools/conformance.ts")], { encoding: "utf8" });
  assert.equal(stderr, "");
  assert.equal(status, 0);
  assert.match(stdout, /^all: \d+ names, \d+ shown, \d+ not yet$/m);
});
