import assert from "node:assert/strict";
import { test } from "node:test";
import { bridgeName, cniConfig, gatewayAddress } from "./cni-config.ts";

test("CNI configuration: bridge with host-local addresses, then portmap", () => {
  const config = cniConfig({ instanceId: "a1b2c3", podCidrs: ["10.244.1.0/24", "fd00:1::/64"], addressDirectory: "/d" });
  assert.equal(config.name, "coracle-a1b2c3");
  assert.deepEqual(
    config.plugins.map(({ type }) => type),
    ["bridge", "portmap"],
  );
  assert.deepEqual(config.plugins[0]!["ipam"], { type: "host-local", dataDir: "/d", ranges: [[{ subnet: "10.244.1.0/24" }], [{ subnet: "fd00:1::/64" }]] });
});

test("names of bridges fit the kernel", () => {
  assert.equal(bridgeName("a1b2c3"), "cor-a1b2c3");
  assert.equal(bridgeName("a-very-long-instance").length, 15);
});

for (const [cidr, address, prefixLength] of [
  ["10.244.0.0/16", "10.244.0.1", 16],
  ["10.244.3.128/25", "10.244.3.129", 25],
  ["fd00:1::/64", "fd00:1::1", 64],
] as const) {
  test(`gateway of ${cidr}`, () => assert.deepEqual(gatewayAddress(cidr), { address, prefixLength }));
}
