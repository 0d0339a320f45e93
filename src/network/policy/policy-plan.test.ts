import assert from "node:assert/strict";
import { test } from "node:test";
import { planPolicies } from "./policy-plan.ts";
import { policyTable, tableChange } from "./policy-table.ts";
import type { PodView } from "./policy-plan.ts";
import type { NetworkPolicySpec } from "../../api/networking-v1/types.ts";

const pod = (namespace: string, app: string, address: string, port = 8080): PodView => ({
  namespace,
  labels: { app },
  addresses: [address],
  ports: [{ name: "http", port, protocol: "TCP" }],
  isLocal: app === "web",
});
const pods = [pod("a", "web", "10.0.0.1"), pod("a", "client", "10.0.0.2", 9090), pod("b", "client", "10.0.0.3")];
const namespaces = new Map([
  ["a", { team: "one" }],
  ["b", { team: "two" }],
]);

interface Case {
  readonly says: string;
  readonly spec: NetworkPolicySpec;
  /** By direction what is allowed; a direction that is not there is free. */
  readonly expect: { ingress?: unknown[]; egress?: unknown[] };
}
const web = { matchLabels: { app: "web" } };
const http = [{ protocol: "TCP", first: 8080, last: 8080 }];
const cases: Case[] = [
  { says: "selects nothing here", spec: { podSelector: { matchLabels: { app: "none" } } }, expect: {} },
  { says: "nothing in", spec: { podSelector: {} }, expect: { ingress: [] } },
  { says: "nothing in or out", spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] }, expect: { ingress: [], egress: [] } },
  { says: "everything in", spec: { podSelector: web, ingress: [{}] }, expect: { ingress: [{}] } },
  { says: "rules for egress alone make it a policy for both", spec: { podSelector: web, egress: [{}] }, expect: { ingress: [], egress: [{}] } },
  {
    says: "pods of the own namespace",
    spec: { podSelector: web, ingress: [{ from: [{ podSelector: { matchLabels: { app: "client" } } }] }] },
    expect: { ingress: [{ peers: { addresses: ["10.0.0.2"] } }] },
  },
  {
    says: "all of a namespace",
    spec: { podSelector: web, ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: "two" } } }] }] },
    expect: { ingress: [{ peers: { addresses: ["10.0.0.3"] } }] },
  },
  {
    says: "both selectors at once",
    spec: { podSelector: web, ingress: [{ from: [{ namespaceSelector: {}, podSelector: { matchLabels: { app: "client" } } }] }] },
    expect: { ingress: [{ peers: { addresses: ["10.0.0.2", "10.0.0.3"] } }] },
  },
  {
    says: "a block with exceptions, and a range of ports",
    spec: {
      podSelector: web,
      ingress: [{ from: [{ ipBlock: { cidr: "192.0.2.0/24", except: ["192.0.2.5/32"] } }], ports: [{ protocol: "UDP", port: 1000, endPort: 2000 }] }],
    },
    expect: { ingress: [{ peers: { cidr: "192.0.2.0/24", except: ["192.0.2.5/32"] }, ports: [{ protocol: "UDP", first: 1000, last: 2000 }] }] },
  },
  { says: "a block of another family", spec: { podSelector: web, ingress: [{ from: [{ ipBlock: { cidr: "fd00::/8" } }] }] }, expect: { ingress: [] } },
  {
    says: "all ports of a protocol",
    spec: { podSelector: web, ingress: [{ ports: [{ protocol: "SCTP" }] }] },
    expect: { ingress: [{ ports: [{ protocol: "SCTP" }] }] },
  },
  { says: "a named port of the pod", spec: { podSelector: web, ingress: [{ ports: [{ port: "http" }] }] }, expect: { ingress: [{ ports: http }] } },
  { says: "a name that the pod does not have", spec: { podSelector: web, ingress: [{ ports: [{ port: "other" }] }] }, expect: { ingress: [] } },
  {
    says: "a named port of the other side, by its number",
    spec: { podSelector: web, policyTypes: ["Egress"], egress: [{ to: [{ namespaceSelector: {} }], ports: [{ port: "http" }] }] },
    expect: {
      egress: [
        { peers: { addresses: ["10.0.0.1", "10.0.0.3"] }, ports: http },
        { peers: { addresses: ["10.0.0.2"] }, ports: [{ protocol: "TCP", first: 9090, last: 9090 }] },
      ],
    },
  },
];
for (const { says, spec, expect } of cases)
  test(`policy: ${says}`, () => {
    const rules = planPolicies({ pods, namespaces, policies: [{ metadata: { namespace: "a", name: "p" }, spec }] });
    assert.ok(rules.every(({ address }) => address === "10.0.0.1"));
    assert.deepEqual(Object.fromEntries(rules.map(({ direction, allows }) => [direction, allows])), expect);
  });

test("policies add up", () => {
  const policy = (name: string, spec: NetworkPolicySpec) => ({ metadata: { namespace: "a", name }, spec });
  const [rules] = planPolicies({ pods, namespaces, policies: [policy("none", { podSelector: {} }), policy("all", { podSelector: web, ingress: [{}] })] });
  assert.deepEqual(rules!.allows, [{}]);
});

test("table: a peer that comes or goes changes one set, anything else the whole", () => {
  const tableOf = (...addresses: string[]) =>
    policyTable("t", "IPv4", [
      { address: "10.0.0.1", family: "IPv4", direction: "ingress", allows: [{ peers: { addresses }, ports: [{ protocol: "TCP", first: 80, last: 80 }] }] },
    ]);
  const first = tableOf("10.0.0.2");
  assert.match(first.structure, /ip saddr @ingress-[0-9a-f]{12}-0 tcp dport 80 return\n {4}drop/);
  assert.match(tableChange("t", "IPv4", undefined, first), /^add table ip t\ndelete table ip t\ntable ip t \{/);
  assert.match(
    tableChange("t", "IPv4", first, tableOf("10.0.0.2", "10.0.0.3")),
    /^flush set ip t ingress-[0-9a-f]{12}-0\nadd element ip t ingress-[0-9a-f]{12}-0 \{ 10\.0\.0\.2, 10\.0\.0\.3 \}\n$/,
  );
  assert.match(tableChange("t", "IPv4", first, tableOf()), /^flush set ip t ingress-[0-9a-f]{12}-0\n$/);
  assert.equal(tableChange("t", "IPv4", first, tableOf("10.0.0.2")), "");
});
