import assert from "node:assert/strict";
import { test } from "node:test";
import { cutList, durationText, labelsText, loadBalancerText, selectorText, since } from "./cells.ts";

test("durations keep two units up to a limit", () => {
  const table: [seconds: number, text: string][] = [
    [-2, "<invalid>"],
    [-1, "0s"],
    [0, "0s"],
    [119, "119s"],
    [120, "2m"],
    [121, "2m1s"],
    [599, "9m59s"],
    [601, "10m"],
    [7260, "121m"],
    [10_799, "179m"],
    [10_800, "3h"],
    [10_860, "3h1m"],
    [28_800, "8h"],
    [90_000, "25h"],
    [172_800, "2d"],
    [176_400, "2d1h"],
    [691_199, "7d23h"],
    [700_000, "8d"],
    [31_536_000, "365d"],
    [63_072_000, "2y"],
    [63_158_400, "2y1d"],
    [252_288_000, "8y"],
    [300_000_000, "9y"],
  ];
  for (const [seconds, text] of table) assert.equal(durationText(seconds * 1000), text, String(seconds));
});

test("an absent or zero time has no age", () => {
  for (const timestamp of [undefined, null, "", "0001-01-01T00:00:00Z"]) assert.equal(since(timestamp, { nowMs: 0 }), "<unknown>");
  assert.equal(since("1970-01-01T00:00:00Z", { nowMs: 65_000 }), "65s");
});

test("selectors read as queries, sorted by key", () => {
  assert.equal(selectorText(undefined), "<none>");
  assert.equal(selectorText({}), "<none>");
  assert.equal(selectorText({ matchLabels: { b: "2", a: "1" } }), "a=1,b=2");
  const matchExpressions = [
    { key: "k", operator: "In", values: ["z", "a"] },
    { key: "e", operator: "Exists" },
    { key: "n", operator: "NotIn", values: ["q"] },
    { key: "d", operator: "DoesNotExist" },
  ];
  assert.equal(selectorText({ matchExpressions }), "!d,e,k in (a,z),n notin (q)");
  assert.equal(labelsText({ y: "1", x: "" }), "x=,y=1");
  assert.equal(labelsText({}), "<none>");
});

test("lists are cut and addresses sorted", () => {
  assert.equal(cutList(["a", "b", "c"], 3), "a,b,c");
  assert.equal(cutList(["a", "b", "c", "d", "e"], 3), "a,b,c + 2 more...");
  assert.equal(loadBalancerText([{ hostname: "lb.example.com" }, { ip: "203.0.113.6" }, { ip: "203.0.113.6" }]), "203.0.113.6,lb.example.com");
});
