import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeRules } from "./machine-network.ts";
import { freeNumber, nodePodCidrs, placeNode, requireName } from "./node-place.ts";

const ranges = { podCidrs: ["10.244.0.0/16", "fd00:1::/48"], serviceCidrs: ["10.0.0.0/16"], nodeCidr: "10.243.0.0/24", loadBalancerCidrs: ["10.242.0.0/24"] };

test("a node's place follows from its number", () => {
  assert.deepEqual(placeNode("n2", 2, { ranges, instanceId: "a1b2c3" }), {
    name: "n2",
    number: 2,
    address: "10.243.0.12",
    prefixLength: 24,
    gateway: "10.243.0.1",
    podCidrs: ["10.244.2.0/24", "fd00:1:0:2::/64"],
    namespace: "cor-a1b2c3-2",
    link: "cn-a1b2c3-2",
  });
});

for (const [cidr, number, expected] of [
  ["10.244.0.0/16", 0, "10.244.0.0/24"],
  ["10.244.0.0/16", 255, "10.244.255.0/24"],
  ["10.244.7.0/25", 0, "10.244.7.0/25"],
] as const)
  test(`share ${number} of ${cidr}`, () => assert.deepEqual(nodePodCidrs([cidr], number), [expected]));

test("ranges that are used up are told", () => {
  assert.throws(() => nodePodCidrs(["10.244.0.0/16"], 256), /the pods' range 10\.244\.0\.0\/16 has no share for node number 256: a node takes a \/24/);
  assert.throws(() => placeNode("n", 245, { ranges, instanceId: "i" }), /the range of nodes, 10\.243\.0\.0\/24, has no address left for n/);
});

for (const name of ["", "..", "a/b", "A", "-a", "a".repeat(64)])
  test(`${JSON.stringify(name)} is no name`, () => assert.throws(() => requireName(name), /is no name for a node/));

test("numbers are used again", () => {
  assert.equal(freeNumber([]), 1);
  assert.equal(freeNumber([1, 3]), 2);
});

test("what leaves the machine is masqueraded, what goes to nodes and pods is not", () => {
  const rules = nodeRules("t", ranges);
  assert.match(rules, /elements = \{ 10\.243\.0\.0\/24, 10\.244\.0\.0\/16, 224\.0\.0\.0\/4 \}/);
  assert.match(rules, /ip saddr 10\.243\.0\.0\/24 ip daddr != @inside masquerade/);
});
