import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import type { RuleContext } from "../strategy.ts";
import { endpointSlices } from "./endpointslice.ts";
import type { EndpointSlice } from "./types.ts";

const context = {} as RuleContext;
const slice = (change: Partial<EndpointSlice> = {}): EndpointSlice => {
  const object: EndpointSlice = { metadata: { name: "s" }, addressType: "IPv4", endpoints: [{ addresses: ["1.2.3.4"] }], ports: [{ port: 80 }], ...change };
  endpointSlices.defaults?.(object, 0);
  return object;
};

test("addresses and ports", () => {
  const table: [change: Partial<EndpointSlice>, faults: string[]][] = [
    [{}, []],
    [
      { endpoints: [{ addresses: ["::1"] }] },
      [
        'endpoints[0].addresses: Invalid value: "::1": must be an IPv4 address',
        'endpoints[0].addresses[0]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
    ],
    [{ endpoints: [{ addresses: [] }] }, ["endpoints[0].addresses: Required value"]],
    [
      { addressType: "Bogus", ports: [{ name: "a" }, { name: "a" }] },
      ['ports[1].name: Duplicate value: "a"', 'addressType: Unsupported value: "Bogus": supported values: "FQDN", "IPv4", "IPv6"'],
    ],
    [
      { endpoints: [{ addresses: ["1.2.3.4"], hints: { forZones: [{ name: "z" }, { name: "z" }] } }] },
      ['endpoints[0].hints.forZones[1].name: Duplicate value: "z"'],
    ],
  ];
  for (const [change, faults] of table) assert.deepEqual(endpointSlices.create.validate?.(slice(change), context).map(fieldErrorText), faults);
});

test("labels move the generation, annotations do not", () => {
  const moves = endpointSlices.generation as (object: EndpointSlice, old: EndpointSlice) => boolean;
  assert.equal(moves(slice({ metadata: { name: "s", labels: { a: "b" } } }), slice()), true);
  assert.equal(moves(slice({ metadata: { name: "s", annotations: { a: "b" } } }), slice()), false);
  assert.equal(moves(slice({ ports: [{ port: 81 }] }), slice()), true);
});
