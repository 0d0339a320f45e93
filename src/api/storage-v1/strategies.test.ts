import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import type { RuleContext } from "../strategy.ts";
import { csiDrivers } from "./csidriver.ts";
import { csiNodes } from "./csinode.ts";
import { storageClasses } from "./storageclass.ts";
import type { CSIDriver, CSINode, StorageClass } from "./types.ts";
import { volumeAttachments } from "./volumeattachment.ts";

const context = {} as RuleContext;
const metadata = { name: "x" };

test("storage classes", () => {
  const storageClass: StorageClass = { metadata, provisioner: "", allowedTopologies: [{}] };
  storageClasses.defaults?.(storageClass, 0);
  assert.deepEqual([storageClass.reclaimPolicy, storageClass.volumeBindingMode], ["Delete", "Immediate"]);
  assert.deepEqual(storageClasses.create.validate?.(storageClass, context).map(fieldErrorText), [
    'allowedTopologies[0].matchLabelExpressions: Duplicate value: ""',
    "provisioner: Required value",
  ]);
  const good: StorageClass = {
    ...storageClass,
    provisioner: "example.com/p",
    allowedTopologies: [{ matchLabelExpressions: [{ key: "failure-domain.beta.kubernetes.io/zone", values: ["v"] }] }],
  };
  assert.deepEqual(storageClasses.create.warnings?.(good, context), [
    'allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ]);
  assert.deepEqual(storageClasses.update.validate?.({ ...good, reclaimPolicy: "Retain" }, good, context).map(fieldErrorText), [
    "reclaimPolicy: Invalid value: null: field is immutable",
  ]);
});

test("the generation of a driver starts with its first change", () => {
  const driver = (spec: CSIDriver["spec"], generation?: number): CSIDriver => {
    const object: CSIDriver = { metadata: { name: "x", ...(generation !== undefined && { generation }) }, spec };
    csiDrivers.defaults?.(object, 0);
    return object;
  };
  const changed = driver({ fsGroupPolicy: "File" });
  csiDrivers.update.prepare?.(changed, driver({}), context);
  assert.equal(changed.metadata.generation, 1);
  const same = driver({}, 4);
  csiDrivers.update.prepare?.(same, driver({}, 4), context);
  assert.equal(same.metadata.generation, 4);
});

test("drivers of a node change only in how many volumes they take", () => {
  const node = (nodeID: string, count: number): CSINode => ({ metadata, spec: { drivers: [{ name: "d.example.com", nodeID, allocatable: { count } }] } });
  assert.deepEqual(csiNodes.update.validate?.(node("n", 6), node("n", 5), context), []);
  assert.deepEqual(csiNodes.update.validate?.(node("m", 5), node("n", 5), context).map(fieldErrorText), [
    'spec.drivers: Invalid value: {"Name":"d.example.com","NodeID":"m","TopologyKeys":null,"Allocatable":null}: field is immutable',
  ]);
});

test("attachments name one source", () => {
  const faults = volumeAttachments.create.validate?.({ metadata, spec: { attacher: "", nodeName: "n", source: {} } }, context).map(fieldErrorText);
  assert.deepEqual(faults, [
    "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
    "spec.attacher: Required value",
  ]);
});
