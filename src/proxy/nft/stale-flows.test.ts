import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { staleFlows } from "./stale-flows.ts";
import type { Frontend, ServicePlan } from "../plan.ts";

const frontend = (given: Partial<Frontend>, ...backends: string[]): Frontend => ({
  service: "d/s:p",
  kind: "clusterIP",
  family: "IPv4",
  protocol: "udp",
  address: "10.0.0.1",
  port: 53,
  ifEmpty: "reject",
  masquerade: "never",
  ...given,
  backends: backends.map((address) => ({ address, port: 53, isLocal: true })),
});
const plan = (...frontends: Frontend[]): ServicePlan => ({ name: "d/s", clusterAddresses: ["10.0.0.1"], frontends, localAddresses: [] });

interface Case {
  readonly says: string;
  readonly before?: ServicePlan;
  readonly after?: ServicePlan;
  readonly expect: readonly { address: string; port: number; backend: string }[];
}
const cases: Case[] = [
  { says: "a new Service has none", after: plan(frontend({}, "a")), expect: [] },
  {
    says: "a backend that went",
    before: plan(frontend({}, "a", "b")),
    after: plan(frontend({}, "b", "c")),
    expect: [{ address: "10.0.0.1", port: 53, backend: "a" }],
  },
  { says: "a Service that went", before: plan(frontend({}, "a")), expect: [{ address: "10.0.0.1", port: 53, backend: "a" }] },
  {
    says: "a node port",
    before: plan(frontend({ kind: "nodePort", address: "", port: 30053 }, "a")),
    after: plan(),
    expect: [{ address: "", port: 30053, backend: "a" }],
  },
  { says: "TCP ends by itself", before: plan(frontend({ protocol: "tcp" }, "a")), expect: [] },
  {
    says: "a port that moved",
    before: plan(frontend({}, "a")),
    after: plan(frontend({ port: 54 }, "a")),
    expect: [{ address: "10.0.0.1", port: 53, backend: "a" }],
  },
];
for (const { says, before, after, expect } of cases) test(`stale flows: ${says}`, () => deepEqual(staleFlows(before, after), expect));
