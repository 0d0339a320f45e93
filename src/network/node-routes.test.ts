import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { wantedRoutes } from "./node-routes.ts";
import type { Node } from "../api/core-v1/types.ts";

const node = (name: string, podCIDRs: string[], ...addresses: string[]): Node => ({
  metadata: { name },
  spec: { podCIDRs },
  status: { addresses: addresses.map((address) => ({ type: "InternalIP", address })) },
});

test("a route to each other node that has a range and an address", () => {
  const nodes = [
    node("self", ["10.244.0.0/24"], "10.0.0.1"),
    node("a", ["10.244.1.0/24", "fd00:1::/64"], "fd00::2", "10.0.0.2"),
    node("rangeless", [], "10.0.0.3"),
    node("new", ["10.244.2.0/24"]),
  ];
  deepEqual([...wantedRoutes(nodes, "self")], [["10.244.1.0/24", "10.0.0.2"]]);
});
