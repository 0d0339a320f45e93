import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { deletionConditions } from "./conditions.ts";
import type { DeletionFindings } from "./conditions.ts";

const nothing: DeletionFindings = { discoveryFault: undefined, contentFaults: [], remaining: new Map(), finalizers: new Map(), isWaitingForPods: false };
const cases: { name: string; findings: Partial<DeletionFindings>; expect: string[] }[] = [
  { name: "empty", findings: {}, expect: ["ResourcesDiscovered", "ParsedGroupVersions", "ContentDeleted", "ContentRemoved", "ContentHasNoFinalizers"] },
  {
    name: "held by finalizers",
    findings: { remaining: new Map([["secrets.", 1]]), finalizers: new Map([["a/b", 1]]) },
    expect: ["ResourcesDiscovered", "ParsedGroupVersions", "ContentDeleted", "SomeResourcesRemain", "SomeFinalizersRemain"],
  },
  {
    name: "pods first",
    findings: { remaining: new Map([["pods.", 1]]), isWaitingForPods: true },
    expect: ["ResourcesDiscovered", "ParsedGroupVersions", "ContentDeleted", "ContentRemoved", "ContentHasNoFinalizers"],
  },
  {
    name: "refused",
    findings: { contentFaults: ["no"] },
    expect: ["ResourcesDiscovered", "ParsedGroupVersions", "ContentDeletionFailed", "ContentRemoved", "ContentHasNoFinalizers"],
  },
];
for (const { name, findings, expect } of cases) {
  test(`namespace deletion: ${name}`, () =>
    deepEqual(
      deletionConditions([], { ...nothing, ...findings }, 0).map(({ reason }) => reason),
      expect,
    ));
}

test("namespace deletion: what is counted is sorted, and the time moves only with the status", () => {
  const remaining = new Map([
    ["secrets.", 2],
    ["configmaps.", 1],
  ]);
  const first = deletionConditions([], { ...nothing, remaining }, 0);
  deepEqual(first[3]?.message, "Some resources are remaining: configmaps. has 1 resource instances, secrets. has 2 resource instances");
  deepEqual(deletionConditions(first, { ...nothing, remaining: new Map([["secrets.", 1]]) }, 60_000)[3]?.lastTransitionTime, "1970-01-01T00:00:00Z");
  deepEqual(deletionConditions(first, nothing, 60_000)[3]?.lastTransitionTime, "1970-01-01T00:01:00Z");
});
