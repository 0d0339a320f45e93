import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { planClaims } from "./plan.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/core-v1/types.ts";

const pod: Pod = {
  metadata: { name: "p", namespace: "x", uid: "u" },
  spec: {
    containers: [],
    volumes: [
      { name: "tmp", ephemeral: { volumeClaimTemplate: { metadata: { labels: { l: "1" } }, spec: {} } } },
      { name: "other", emptyDir: {} },
    ],
  },
};
const owned: PersistentVolumeClaim = {
  metadata: { name: "p-tmp", ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u", controller: true }] },
};
const cases: [name: string, pod: Pod, claims: PersistentVolumeClaim[], created: string[]][] = [
  ["none yet", pod, [], ["p-tmp"]],
  ["its own", pod, [owned], []],
  ["one in the way", pod, [{ metadata: { name: "p-tmp" } }], []],
  ["a pod that is leaving", { ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }, [], []],
];
for (const [name, given, claims, created] of cases) {
  test(`ephemeral volumes: ${name}`, () => {
    const { actions } = planClaims({ pod: given, claims: new Map(claims.map((claim) => [claim.metadata.name ?? "", claim])) });
    deepEqual(
      actions.map((action) => (action.kind === "create" ? action.object.metadata.name : action.kind)),
      created,
    );
  });
}
