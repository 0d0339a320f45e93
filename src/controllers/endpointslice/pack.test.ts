import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { packEndpoints } from "./pack.ts";
import type { Endpoint, EndpointSlice } from "../../api/discovery-v1/types.ts";

const endpoint = (name: string, ready = true): Endpoint => ({ addresses: [name], conditions: { ready }, targetRef: { kind: "Pod", name, uid: name } });
const slice = (...names: string[]): EndpointSlice => ({
  metadata: { name: names.join("") },
  addressType: "IPv4",
  endpoints: names.map((name) => endpoint(name)),
});
/** `*` marks a slice that changes. */
const cases: { name: string; desired: string; slices: EndpointSlice[]; kept: string[]; fresh: string[] }[] = [
  { name: "nothing there", desired: "abcde", slices: [], kept: [], fresh: ["abc", "de"] },
  { name: "nothing new", desired: "abcd", slices: [slice("a", "b"), slice("c", "d")], kept: ["ab", "cd"], fresh: [] },
  { name: "one new goes where there is most", desired: "abcd", slices: [slice("a"), slice("b", "c")], kept: ["a", "bcd*"], fresh: [] },
  { name: "one new goes where something went", desired: "acd", slices: [slice("a", "x"), slice("c")], kept: ["ad*", "c"], fresh: [] },
  { name: "no room", desired: "abcd", slices: [slice("a", "b", "c")], kept: ["abc"], fresh: ["d"] },
  { name: "all gone", desired: "", slices: [slice("a")], kept: ["*"], fresh: [] },
];
for (const { name, desired, slices, kept, fresh } of cases) {
  test(`packing endpoints: ${name}`, () => {
    const packing = packEndpoints(
      Array.from(desired, (letter) => endpoint(letter)),
      slices,
      3,
    );
    const text = (endpoints: readonly Endpoint[]) => endpoints.map(({ addresses }) => addresses?.[0]).join("");
    deepEqual(
      packing.kept.map((slot) => text(slot.endpoints) + (slot.isChanged ? "*" : "")),
      kept,
    );
    deepEqual(packing.fresh.map(text), fresh);
  });
}
