import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { bestVolume, mismatch } from "./match.ts";
import { planClaim } from "./plan.ts";
import { planVolume } from "./volume-plan.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/core-v1/types.ts";
import type { Action } from "../../operator/index.ts";

const volume = (name: string, storage: string, spec: PersistentVolume["spec"] = {}): PersistentVolume => ({
  metadata: { name },
  spec: { capacity: { storage }, accessModes: ["ReadWriteOnce"], ...spec },
  status: { phase: "Available" },
});
const claim = (storage: string, spec: PersistentVolumeClaim["spec"] = {}, annotations: Record<string, string> = {}): PersistentVolumeClaim => ({
  metadata: { name: "c", namespace: "x", uid: "u", annotations },
  spec: { resources: { requests: { storage } }, accessModes: ["ReadWriteOnce"], storageClassName: "", ...spec },
  status: { phase: "Pending" },
});
const many = volume("many", "1Gi", { accessModes: ["ReadWriteOnce", "ReadWriteMany"] });

const choices: [name: string, claim: PersistentVolumeClaim, volumes: PersistentVolume[], expect: string | undefined][] = [
  ["the smallest that is large enough", claim("3Gi"), [volume("l", "10Gi"), volume("m", "5Gi"), volume("s", "1Gi")], "m"],
  ["fewer access modes before size", claim("1Gi"), [many, volume("one", "9Gi")], "one"],
  ["one reserved for it before all", claim("1Gi"), [volume("s", "1Gi"), volume("r", "9Gi", { claimRef: { namespace: "x", name: "c" } })], "r"],
  ["none reserved for another", claim("1Gi"), [volume("r", "9Gi", { claimRef: { namespace: "x", name: "d" } })], undefined],
  ["none of another mode", claim("1Gi", { volumeMode: "Block" }), [volume("s", "1Gi")], undefined],
];
for (const [name, wanted, volumes, expect] of choices)
  test(`choice of a volume: ${name}`, () => equal(bestVolume(wanted, volumes, false)?.metadata.name, expect));

test("why a volume does not do", () => {
  equal(mismatch(volume("v", "1Gi"), claim("2Gi")), "requested PV is too small");
  equal(mismatch(volume("v", "1Gi", { storageClassName: "a" }), claim("1Gi")), "storageClassName does not match");
});

const none = { named: undefined, volumes: [], storageClass: undefined, defaultClass: undefined, waitingPods: [] };
const classOf = (provisioner: string, volumeBindingMode = "Immediate") => ({ metadata: { name: "k" }, provisioner, volumeBindingMode });
const wanting = claim("1Gi", { storageClassName: "k" });
const plans: [name: string, actions: readonly Action[], expect: string[]][] = [
  ["no class", planClaim({ ...none, claim: claim("1Gi") }).actions, ["FailedBinding"]],
  ["an unknown class", planClaim({ ...none, claim: wanting }).actions, ["ProvisioningFailed"]],
  ["a provisioner is asked", planClaim({ ...none, claim: wanting, storageClass: classOf("csi.example.com") }).actions, ["update c"]],
  ["waits for a pod", planClaim({ ...none, claim: wanting, storageClass: classOf("p", "WaitForFirstConsumer") }).actions, ["WaitForFirstConsumer"]],
  ["binds", planClaim({ ...none, claim: claim("1Gi"), volumes: [volume("v", "1Gi")] }).actions, ["update v", "update c"]],
  ["loses its volume", planClaim({ ...none, claim: claim("1Gi", { volumeName: "v" }, { "pv.kubernetes.io/bind-completed": "yes" }) }).actions, ["update c"]],
  [
    "is released",
    planVolume({ volume: volume("v", "1Gi", { claimRef: { namespace: "x", name: "c", uid: "u" } }), claim: undefined, recycler: undefined }).actions,
    ["update v"],
  ],
];
for (const [name, actions, expect] of plans) test(`binder: ${name}`, () => deepEqual(actions.map(summary), expect));

function summary(action: Action): string {
  if (action.kind === "event") return action.event.reason;
  if (action.kind === "update" || action.kind === "create") return `${action.kind} ${action.object.metadata.name}`;
  return `${action.kind} ${"name" in action ? action.name : ""}`;
}
