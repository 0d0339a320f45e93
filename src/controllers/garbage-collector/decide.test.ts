import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { decideCollection } from "./decide.ts";
import type { OwnerState } from "./decide.ts";
import type { ObjectMeta, OwnerReference } from "../../apimachinery/object.ts";

const reference = (uid: string): OwnerReference => ({ apiVersion: "v1", kind: "ConfigMap", name: uid, uid });
const cases: { name: string; owners: Record<string, OwnerState>; finalizers?: string[]; dependents?: number; isDeleting?: boolean; expect: unknown }[] = [
  { name: "no owner", owners: {}, expect: { kind: "keep" } },
  { name: "alive", owners: { a: "alive" }, expect: { kind: "keep" } },
  { name: "the last is gone", owners: { a: "absent" }, expect: { kind: "delete", policy: "Background", unblocks: false } },
  { name: "both are gone", owners: { a: "absent", b: "absent" }, expect: { kind: "delete", policy: "Background", unblocks: false } },
  { name: "one of two is gone", owners: { a: "absent", b: "alive" }, expect: { kind: "dropOwners", kept: [reference("b")] } },
  { name: "one of two waits", owners: { a: "waiting", b: "alive" }, expect: { kind: "dropOwners", kept: [reference("b")] } },
  { name: "the owner waits", owners: { a: "waiting" }, expect: { kind: "delete", policy: "Background", unblocks: false } },
  {
    name: "the owner waits, and it has dependents itself",
    owners: { a: "waiting" },
    dependents: 1,
    expect: { kind: "delete", policy: "Foreground", unblocks: false },
  },
  { name: "a circle that waits", owners: { a: "waiting" }, dependents: 1, isDeleting: true, expect: { kind: "delete", policy: "Foreground", unblocks: true } },
  { name: "it orphans its own", owners: { a: "absent" }, finalizers: ["orphan"], expect: { kind: "delete", policy: "Orphan", unblocks: false } },
];
for (const { name, owners, finalizers, dependents = 0, isDeleting = false, expect } of cases) {
  test(`collection: ${name}`, () => {
    const metadata: ObjectMeta = { name: "x", ownerReferences: Object.keys(owners).map(reference), ...(finalizers !== undefined && { finalizers }) };
    const found = Object.entries(owners).map(([uid, state]) => ({ reference: reference(uid), state }));
    deepEqual(decideCollection({ metadata, owners: found, dependents: { count: dependents, isDeleting } }), expect);
  });
}
