import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { clusterOf, nodeOf, podOf, verdicts } from "../../test-support/cluster.ts";
import type { ContainerPort, Pod } from "../../../api/core-v1/types.ts";

const taken = "unschedulable: node(s) didn't have free ports for the requested pod ports";
const withPort = (name: string, port: Partial<ContainerPort>, restartPolicy?: string): Pod => {
  const container = { name: "c", image: "img", ports: [{ containerPort: 80, ...port }], ...(restartPolicy !== undefined && { restartPolicy }) };
  return podOf(name, restartPolicy === undefined ? { containers: [container] } : { initContainers: [container] });
};

const cases: { name: string; used: Pod; wanted: Pod; expect: string }[] = [
  { name: "the same port", used: withPort("x", { hostPort: 80 }), wanted: withPort("p", { hostPort: 80 }), expect: taken },
  { name: "another port", used: withPort("x", { hostPort: 80 }), wanted: withPort("p", { hostPort: 81 }), expect: "fits" },
  { name: "another protocol", used: withPort("x", { hostPort: 80 }), wanted: withPort("p", { hostPort: 80, protocol: "UDP" }), expect: "fits" },
  {
    name: "another address",
    used: withPort("x", { hostPort: 80, hostIP: "1.1.1.1" }),
    wanted: withPort("p", { hostPort: 80, hostIP: "2.2.2.2" }),
    expect: "fits",
  },
  { name: "all addresses", used: withPort("x", { hostPort: 80, hostIP: "1.1.1.1" }), wanted: withPort("p", { hostPort: 80 }), expect: taken },
  { name: "no host port", used: withPort("x", { hostPort: 80 }), wanted: withPort("p", {}), expect: "fits" },
  { name: "an init container that ends", used: withPort("x", { hostPort: 80 }, "Never"), wanted: withPort("p", { hostPort: 80 }), expect: "fits" },
  { name: "a sidecar", used: withPort("x", { hostPort: 80 }, "Always"), wanted: withPort("p", { hostPort: 80 }), expect: taken },
];
for (const { name, used, wanted, expect } of cases)
  test(`host ports: ${name}`, () => deepEqual(verdicts("NodePorts", clusterOf([[nodeOf("a"), used]]), wanted), { a: expect }));
