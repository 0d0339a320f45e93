import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { packSubsets, truncated } from "./subsets.ts";
import type { Binding } from "./subsets.ts";

const binding = (ip: string, port: number, isReady = true): Binding => ({ address: { ip }, isReady, port: { name: `p${port}`, port, protocol: "TCP" } });
const port = (number: number) => ({ name: `p${number}`, port: number, protocol: "TCP" });

const cases: { name: string; bindings: Binding[]; expect: unknown }[] = [
  { name: "none", bindings: [], expect: [] },
  {
    name: "ports of the same addresses together",
    bindings: [binding("b", 1), binding("a", 1), binding("a", 2), binding("b", 2)],
    expect: [{ addresses: [{ ip: "a" }, { ip: "b" }], ports: [port(1), port(2)] }],
  },
  {
    name: "ports of other addresses apart",
    bindings: [binding("a", 1), binding("b", 2)],
    expect: [
      { addresses: [{ ip: "a" }], ports: [port(1)] },
      { addresses: [{ ip: "b" }], ports: [port(2)] },
    ],
  },
  {
    name: "ready and not",
    bindings: [binding("a", 1), binding("b", 1, false)],
    expect: [{ addresses: [{ ip: "a" }], notReadyAddresses: [{ ip: "b" }], ports: [port(1)] }],
  },
  { name: "without ports", bindings: [{ address: { ip: "a" }, isReady: true, port: undefined }], expect: [{ addresses: [{ ip: "a" }] }] },
];
for (const { name, bindings, expect } of cases) test(`subsets: ${name}`, () => deepEqual(packSubsets(bindings), expect));

test("subsets: ready addresses stay when there are too many", () => {
  const subsets = packSubsets([binding("a", 1), binding("b", 1), binding("c", 1, false), binding("d", 2)]);
  const counts = (limit: number) => truncated(subsets, limit).map(({ addresses = [], notReadyAddresses = [] }) => [addresses.length, notReadyAddresses.length]);
  deepEqual(
    [counts(4), counts(3), counts(1)],
    [
      [
        [2, 1],
        [1, 0],
      ],
      [
        [2, 0],
        [1, 0],
      ],
      [[1, 0]],
    ],
  );
});
