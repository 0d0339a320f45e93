import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { finalizer, planLoadBalancers } from "./load-balancers.ts";
import type { Service, ServiceSpec } from "../api/core-v1/types.ts";

const service = (name: string, spec: ServiceSpec, given: { ips?: string[]; finalizers?: string[]; isLeaving?: boolean } = {}): Service => ({
  kind: "Service",
  apiVersion: "v1",
  metadata: {
    namespace: "d",
    name,
    uid: name,
    ...(given.finalizers && { finalizers: given.finalizers }),
    ...(given.isLeaving && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
  },
  spec,
  status: given.ips ? { loadBalancer: { ingress: given.ips.map((ip) => ({ ip })) } } : {},
});
const balanced: ServiceSpec = { type: "LoadBalancer" };

interface Case {
  readonly says: string;
  readonly services: readonly Service[];
  readonly pool?: readonly string[];
  /** Events' reasons, and patches. */
  readonly expect: readonly unknown[];
}
const patchOf = (ip: string | null, finalizers: string[] | null) => ({
  metadata: { finalizers },
  status: { loadBalancer: { ingress: ip === null ? null : [{ ip, ipMode: "VIP" }] } },
});
const cases: Case[] = [
  {
    says: "the first free address",
    services: [service("a", balanced), service("b", balanced, { ips: ["10.9.0.1"], finalizers: [finalizer] })],
    expect: ["EnsuringLoadBalancer", patchOf("10.9.0.2", [finalizer]), "EnsuredLoadBalancer"],
  },
  {
    says: "two at once get two",
    services: [service("a", balanced), service("b", balanced)],
    expect: [
      "EnsuringLoadBalancer",
      patchOf("10.9.0.1", [finalizer]),
      "EnsuredLoadBalancer",
      "EnsuringLoadBalancer",
      patchOf("10.9.0.2", [finalizer]),
      "EnsuredLoadBalancer",
    ],
  },
  {
    says: "the one that is asked for",
    services: [service("a", { ...balanced, loadBalancerIP: "10.9.0.5" })],
    expect: ["EnsuringLoadBalancer", patchOf("10.9.0.5", [finalizer]), "EnsuredLoadBalancer"],
  },
  { says: "a class of somebody else", services: [service("a", { ...balanced, loadBalancerClass: "x.example/y" })], expect: [] },
  { says: "other types", services: [service("a", { type: "ClusterIP" })], expect: [] },
  {
    says: "a type that was changed",
    services: [service("a", { type: "ClusterIP" }, { ips: ["10.9.0.1"], finalizers: ["x", finalizer] })],
    expect: ["DeletingLoadBalancer", patchOf(null, ["x"]), "DeletedLoadBalancer"],
  },
  {
    says: "one that is being deleted",
    services: [service("a", balanced, { ips: ["10.9.0.1"], finalizers: [finalizer], isLeaving: true })],
    expect: ["DeletingLoadBalancer", patchOf(null, null), "DeletedLoadBalancer"],
  },
  {
    says: "its address is free then",
    services: [service("a", balanced, { ips: ["10.9.0.1"], isLeaving: true }), service("b", balanced)],
    expect: ["EnsuringLoadBalancer", patchOf("10.9.0.1", [finalizer]), "EnsuredLoadBalancer"],
  },
  { says: "none left", services: [service("a", balanced)], pool: ["10.9.0.0/31"], expect: ["EnsuringLoadBalancer", "SyncLoadBalancerFailed"] },
  {
    says: "no pool of the family",
    services: [service("a", { ...balanced, ipFamilies: ["IPv6"] })],
    expect: ["EnsuringLoadBalancer", "SyncLoadBalancerFailed"],
  },
];
for (const { says, services, pool = ["10.9.0.0/24"], expect } of cases)
  test(`load balancers: ${says}`, () => {
    const { actions } = planLoadBalancers({ services, pool });
    deepEqual(
      actions.map((action) => (action.kind === "event" ? action.event.reason : action.kind === "patch" && action.patch.body)),
      expect,
    );
  });
