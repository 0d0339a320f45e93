import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { defaultGates, gatesOf, gateStates, parseBool } from "./feature-gates.ts";

test("feature gates: defaults, all of a stage, single ones", () => {
  const table: [pairs: string[], gate: string, expected: boolean][] = [
    [[], "WatchList", true],
    [["WatchList=false"], "WatchList", false],
    [[], "GenericWorkload", false],
    [["AllBeta=true"], "GenericWorkload", true],
    [["AllBeta=true", "GenericWorkload=false"], "GenericWorkload", false],
    [["GenericWorkload=false", "AllBeta=true"], "GenericWorkload", false],
    [["AllAlpha=T", "GenericWorkload=true"], "CompositePodGroup", true],
    [["AllAlpha=true", "WorkloadWithJob=false"], "GenericWorkload", false],
  ];
  for (const [pairs, gate, expected] of table) equal((gateStates(pairs) as Record<string, boolean>)[gate], expected, `${pairs.join()} ${gate}`);
  equal(defaultGates["APIResponseCompression"], true);
});

test("feature gates: as an earlier release had them", () => {
  const states = (release: string) => gateStates([], release) as Record<string, boolean>;
  equal(states("1.37")["HPAScaleToZero"], true);
  equal(states("1.36")["HPAScaleToZero"], false);
  equal(Object.hasOwn(gatesOf("1.36"), "CompositePodGroup"), false);
  deepEqual(gatesOf("1.36")["AllowUnsafeMalformedObjectDeletion"], { default: false, stage: "ALPHA" });
});

test("feature gates: what is refused", () => {
  const table: [pair: string, fault: string][] = [
    ["Foo=true", "unrecognized feature gate: Foo"],
    ["WatchList", "missing bool value for WatchList"],
    ["WatchList=maybe", 'invalid value of WatchList=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'],
    ["WorkloadWithJob=true", "WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]"],
    ["__proto__=true", "unrecognized feature gate: __proto__"],
  ];
  for (const [pair, fault] of table) deepEqual(gateStates([pair]), { fault });
  deepEqual(["1", "TRUE", "f", "0", "yes", ""].map(parseBool), [true, true, false, false, undefined, undefined]);
});
