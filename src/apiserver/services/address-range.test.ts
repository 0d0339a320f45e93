import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { seededRandom } from "../../base/random.ts";
import { AddressRange, addressNumber, addressText } from "./address-range.ts";

test("addresses: texts and numbers", () => {
  const table: [address: string, canonical: string, bits: number][] = [
    ["0.0.0.0", "0.0.0.0", 32],
    ["255.255.255.255", "255.255.255.255", 32],
    ["10.0.0.1", "10.0.0.1", 32],
    ["::", "::", 128],
    ["::1", "::1", 128],
    ["fd00:0:0:0:1::", "fd00:0:0:0:1::", 128],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1", 128],
    ["2001:DB8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1", 128],
    ["::ffff:1.2.3.4", "::ffff:102:304", 128],
  ];
  for (const [address, canonical, bits] of table) {
    const text = addressText(addressNumber(address), bits);
    equal(addressNumber(text), addressNumber(address), address);
    if (address !== "fd00:0:0:0:1::") equal(text, canonical);
    // Of two runs of zeros of the same length the first is shortened, else the longest.
    else equal(text, "fd00::1:0:0:0");
  }
});

test("address range: what belongs to it", () => {
  const table: [cidr: string, address: string, expected: boolean][] = [
    ["10.0.0.0/24", "10.0.0.0", false],
    ["10.0.0.0/24", "10.0.0.1", true],
    ["10.0.0.0/24", "10.0.0.254", true],
    ["10.0.0.0/24", "10.0.0.255", false],
    ["10.0.0.0/24", "10.0.1.1", false],
    ["10.0.0.9/24", "10.0.0.1", true],
    ["10.0.0.0/24", "fd00::1", false],
    ["fd00::/112", "fd00::", false],
    ["fd00::/112", "fd00::ffff", true],
    ["fd00::/112", "10.0.0.1", false],
    ["fd00::/8", "fd00::1", true],
  ];
  for (const [cidr, address, expected] of table) equal(new AddressRange(cidr).contains(address), expected, `${cidr} ${address}`);
  equal(new AddressRange("10.0.0.9/24").first, "10.0.0.1");
  equal(new AddressRange("fd00::/112").first, "fd00::1");
});

test("address range: every address once, the upper band first", () => {
  for (const [cidr, count, band] of [
    ["10.0.0.0/28", 14, 0],
    ["10.0.0.0/24", 254, 16],
    ["fd00::/124", 15, 0],
  ] as const) {
    const range = new AddressRange(cidr);
    const random = seededRandom(1);
    const given: string[] = [];
    for (
      let next = range.pick(random, (address) => given.includes(address));
      next !== undefined;
      next = range.pick(random, (address) => given.includes(address))
    )
      given.push(next);
    equal(given.length, count, cidr);
    equal(new Set(given).size, count, cidr);
    ok(
      given.every((address) => range.contains(address)),
      cidr,
    );
    const offsets = given.map((address) => Number(addressNumber(address) - addressNumber(range.first)));
    ok(
      offsets.slice(0, count - band).every((offset) => offset >= band),
      cidr,
    );
    deepEqual(
      offsets.slice(count - band).sort((a, b) => a - b),
      Array.from({ length: band }, (_, index) => index),
    );
  }
});
