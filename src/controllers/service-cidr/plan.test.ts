import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { planServiceCidr } from "./plan.ts";
import type { ServiceCIDR } from "../../api/networking-v1/types.ts";

const range = (cidr: string, more: Partial<ServiceCIDR["metadata"]> = {}): ServiceCIDR => ({ metadata: { name: "r", ...more }, spec: { cidrs: [cidr] } });
const held = { finalizers: ["networking.k8s.io/service-cidr-finalizer"] };
const going = { ...held, deletionTimestamp: "2026-01-01T00:00:00Z" };
const nowMs = Date.UTC(2026, 0, 1, 1);
const cases: [name: string, serviceCidr: ServiceCIDR, others: ServiceCIDR[], addresses: string[], expect: string[]][] = [
  ["new", range("10.1.0.0/24"), [], [], ["update"]],
  ["held, to be told ready", range("10.1.0.0/24", held), [], [], ["update status"]],
  ["going, in use", range("10.1.0.0/24", going), [], ["10.1.0.5"], ["update status"]],
  ["going, in use elsewhere", range("10.1.0.0/24", going), [], ["10.2.0.5"], ["update"]],
  ["going, inside another", range("10.1.0.0/24", going), [range("10.1.0.0/16")], ["10.1.0.5"], ["update"]],
];
for (const [name, serviceCidr, others, addresses, expect] of cases) {
  test(`service ranges: ${name}`, () => {
    const { actions } = planServiceCidr({ serviceCidr, others, addresses }, nowMs);
    deepEqual(
      actions.map((action) => `${action.kind}${"subresource" in action ? ` ${action.subresource}` : ""}`),
      expect,
    );
  });
}
