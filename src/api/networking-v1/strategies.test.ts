import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import type { RuleContext } from "../strategy.ts";
import { ingresses } from "./ingress.ts";
import { ingressClasses } from "./ingressclass.ts";
import { ipAddresses } from "./ipaddress.ts";
import { networkPolicies } from "./networkpolicy.ts";
import { serviceCidrs } from "./servicecidr.ts";
import type { HTTPIngressPath, NetworkPolicy } from "./types.ts";

const context = { isEnabled: () => true } as unknown as RuleContext;
const metadata = { name: "x" };

test("paths of ingresses", () => {
  const backend = { service: { name: "s", port: { number: 80 } } };
  const at = "spec.rules[0].http.paths[0]";
  const table: [path: HTTPIngressPath, faults: string[]][] = [
    [{ path: "/a", pathType: "Prefix", backend }, []],
    [{ pathType: "ImplementationSpecific", backend }, []],
    [{ pathType: "Exact", backend }, [`${at}.path: Invalid value: "": must be an absolute path`]],
    [
      { path: "/a//b/..", pathType: "Exact", backend },
      [`${at}.path: Invalid value: "/a//b/..": must not contain '//'`, `${at}.path: Invalid value: "/a//b/..": cannot end with '/..'`],
    ],
    [{ path: "/", backend }, [`${at}.pathType: Required value: pathType must be specified`]],
    [{ path: "/", pathType: "Prefix", backend: {} }, [`${at}.backend: Invalid value: "": resource or service backend is required`]],
    [{ path: "/", pathType: "Prefix", backend: { service: { name: "s" } } }, [`${at}.backend: Required value: port name or number is required`]],
  ];
  for (const [path, faults] of table)
    assert.deepEqual(ingresses.create.validate?.({ metadata, spec: { rules: [{ http: { paths: [path] } }] } }, context).map(fieldErrorText), faults);
});

test("the parameters of a class have a scope", () => {
  const ingressClass = { metadata, spec: { controller: "e.com/c", parameters: { kind: "K", name: "n", namespace: "ns" } } };
  ingressClasses.defaults?.(ingressClass, 0);
  assert.deepEqual(ingressClasses.create.validate?.(ingressClass, context).map(fieldErrorText), [
    "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'",
  ]);
  assert.deepEqual(ingressClasses.create.validate?.({ metadata, spec: { controller: "nodomain" } }, context).map(fieldErrorText), [
    'spec.controller: Invalid value: "nodomain": must be a domain-prefixed path (such as "acme.io/foo")',
  ]);
});

test("network policies fill in directions and protocols", () => {
  const policy: NetworkPolicy = {
    metadata,
    spec: {
      podSelector: {},
      egress: [{ ports: [{ port: 80, endPort: 79 }], to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16"] } }, {}, { ipBlock: { cidr: "" } }] }],
    },
  };
  networkPolicies.defaults?.(policy, 0);
  assert.deepEqual([policy.spec?.policyTypes, policy.spec?.egress?.[0]?.ports?.[0]?.protocol], [["Ingress", "Egress"], "TCP"]);
  assert.deepEqual(networkPolicies.create.validate?.(policy, context).map(fieldErrorText), [
    "spec.egress[0].ports[0].endPort: Invalid value: 79: must be greater than or equal to `port`",
    'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
    "spec.egress[0].to[1]: Required value: must specify a peer",
    "spec.egress[0].to[2].ipBlock.cidr: Required value",
  ]);
});

test("addresses are named by themselves", () => {
  assert.deepEqual(ipAddresses.nameRule("FD00::1"), ['must be in canonical form ("fd00::1")']);
  assert.deepEqual(ipAddresses.nameRule("fd00::1"), []);
});

test("a range may gain a second family", () => {
  const range = (...cidrs: string[]) => ({ metadata, spec: { cidrs } });
  const faults = (now: string[], old: string[]) => serviceCidrs.update.validate?.(range(...now), range(...old), context).map(fieldErrorText);
  assert.deepEqual(faults(["192.0.2.0/28", "2001:db8::/112"], ["192.0.2.0/28"]), []);
  assert.deepEqual(faults(["192.0.2.0/27"], ["192.0.2.0/28"]), ['spec.cidrs[0]: Invalid value: "192.0.2.0/27": field is immutable']);
  assert.deepEqual(faults(["192.0.2.0/28"], ["192.0.2.0/28", "2001:db8::/112"]), ['spec.cidrs: Invalid value: ["192.0.2.0/28"]: field is immutable']);
});
