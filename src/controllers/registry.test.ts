import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { durationFlag, FlagError, numberFlag } from "./flags.ts";
import { builtInControllers, selectControllers } from "./registry.ts";
import { throws } from "node:assert/strict";

const entries = builtInControllers({ flags: new Map(), caBundle: "" });
const names = (selection: string[]) => selectControllers(entries, selection).map(({ name }) => name);

test("controllers: the star leaves out what is off by default", () => {
  equal(names(["*"]).includes("bootstrap-signer-controller"), false);
  equal(names(["*"]).includes("deployment-controller"), true);
  equal(names(["*", "bootstrapsigner"]).includes("bootstrap-signer-controller"), true);
});

test("controllers: single ones, by old and new names", () => {
  deepEqual(names(["deployment", "replicaset-controller"]), ["deployment-controller", "replicaset-controller"]);
  equal(names(["*", "-deployment-controller"]).includes("deployment-controller"), false);
  equal(names(["*", "-deployment"]).includes("deployment-controller"), false);
});

test("controllers: some are there only where their gate is on", () => {
  const isThere = (flags: Map<string, string[]>) => builtInControllers({ flags, caBundle: "" }).some(({ name }) => name === "podgroup-protection-controller");
  equal(isThere(new Map()), false);
  equal(isThere(new Map([["feature-gates", ["GenericWorkload=true"]]])), true);
  throws(() => isThere(new Map([["feature-gates", ["NoSuchGate=true"]]])), FlagError);
});

test("controllers: each has a name of its own", () => {
  equal(new Set(entries.flatMap(({ name, aliases }) => [name, ...aliases])).size, entries.flatMap(({ aliases }) => aliases).length + entries.length);
});

const durations: [text: string, expectMs: number][] = [
  ["5m0s", 300_000],
  ["1h30m", 5_400_000],
  ["500ms", 500],
  ["0", 0],
];
for (const [text, expect] of durations) test(`duration ${text}`, () => equal(durationFlag(new Map([["x", [text]]]), "x", 1), expect));

test("flags that cannot be read", () => {
  throws(() => durationFlag(new Map([["x", ["5 minutes"]]]), "x", 1), FlagError);
  throws(() => numberFlag(new Map([["x", ["many"]]]), "x", 1), FlagError);
});
