import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import type { ObjectMeta } from "../../apimachinery/object.ts";
import { validateConditions } from "./conditions.ts";
import { jsonDiff } from "./diff.ts";
import { internalForm, isSemanticallyEqual } from "./internal-form.ts";
import { validateLabelSelector } from "./labels.ts";
import { inheritObjectMeta, validateFieldManager, validateObjectMeta, validateObjectMetaUpdate } from "./object-meta.ts";

const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" };

test("metadata of a new object", () => {
  const table: [metadata: ObjectMeta, faults: string[]][] = [
    [{ name: "x" }, []],
    [{}, ["metadata.name: Required value: name or generateName is required"]],
    [{ name: "x", namespace: "" }, ["metadata.namespace: Required value"]],
    [{ name: "x", generation: -1 }, ["metadata.generation: Invalid value: -1: must be greater than or equal to 0"]],
    [{ name: "x", labels: { "/b": "v" } }, ['metadata.labels: Invalid value: "/b": prefix part must be non-empty']],
    [{ name: "x", annotations: { "A/B": "v" } }, []],
    [{ name: "x", annotations: { a: "v".repeat(262_144) } }, ["metadata.annotations: Too long: may not be more than 262144 bytes"]],
    [{ name: "x", finalizers: ["f"] }, ['metadata.finalizers[0]: Invalid value: "f": name is neither a standard finalizer name nor is it fully qualified']],
    [
      { name: "x", finalizers: ["orphan", "foregroundDeletion"] },
      ['metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set'],
    ],
    [
      { name: "x", ownerReferences: [{ ...owner, apiVersion: "a/b/c" }] },
      ['metadata.ownerReferences[0].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>'],
    ],
    [
      { name: "x", ownerReferences: [{ ...owner, kind: "Event" }] },
      [
        'metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"o","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
    [
      {
        name: "x",
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, controller: true },
        ],
      },
      [
        'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u","controller":true},{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for ConfigMap/o and ConfigMap/o',
      ],
    ],
    [
      { name: "x", managedFields: [{ manager: "m", operation: "Bogus" }] },
      ['metadata.managedFields[0].operation: Invalid value: "Bogus": must be `Apply` or `Update`'],
    ],
  ];
  for (const [metadata, faults] of table) {
    const errors = validateObjectMeta({ namespace: "ns", ...metadata }, { nameRule: subdomainName, isNamespaced: true });
    assert.deepEqual(errors.map(fieldErrorText), faults);
  }
  assert.deepEqual(validateObjectMeta({ name: "x", namespace: "ns" }, { nameRule: subdomainName, isNamespaced: false }).map(fieldErrorText), [
    "metadata.namespace: Forbidden: not allowed on this type",
  ]);
});

test("metadata of a changed object", () => {
  const old: ObjectMeta = {
    name: "x",
    uid: "u",
    creationTimestamp: "2026-01-01T00:00:00Z",
    deletionTimestamp: "2026-01-02T00:00:00Z",
    deletionGracePeriodSeconds: 5,
    finalizers: ["a.b/c"],
  };
  const table: [metadata: ObjectMeta, faults: string[]][] = [
    [{ name: "x" }, []],
    [{ name: "x", uid: "z" }, ['metadata.uid: Invalid value: "z": field is immutable']],
    [{ name: "x", deletionGracePeriodSeconds: 99 }, ["metadata.deletionGracePeriodSeconds: Invalid value: 99: field is immutable"]],
    [
      { name: "x", finalizers: ["a.b/d"] },
      ['metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.b/d"}'],
    ],
  ];
  for (const [metadata, faults] of table) {
    const changed = { resourceVersion: "1", ...metadata };
    inheritObjectMeta(changed, old);
    assert.deepEqual(validateObjectMetaUpdate(changed, old).map(fieldErrorText), faults);
  }
  assert.deepEqual(validateObjectMetaUpdate({ name: "x" }, { name: "x" }).map(fieldErrorText), [
    'metadata.resourceVersion: Invalid value: "": must be specified for an update',
  ]);
});

test("field managers", () => {
  const path = FieldPath.root("fieldManager");
  assert.deepEqual(validateFieldManager("m".repeat(129), path).map(fieldErrorText), ["fieldManager: Too long: may not be more than 128 bytes"]);
  assert.deepEqual(validateFieldManager("a\nb", path).map(fieldErrorText), ['fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)']);
});

test("label selectors", () => {
  const path = FieldPath.root("selector");
  const faults = validateLabelSelector(
    {
      matchLabels: { a: "b c" },
      matchExpressions: [
        { key: "a", operator: "In" },
        { key: "a", operator: "Exists", values: ["x"] },
        { key: "a", operator: "Bogus" },
      ],
    },
    path,
  );
  assert.deepEqual(faults.slice(1).map(fieldErrorText), [
    "selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    "selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    'selector.matchExpressions[2].operator: Invalid value: "Bogus": not a valid selector operator',
  ]);
  assert.equal(faults[0]!.field, "selector.matchLabels");
});

test("conditions", () => {
  const condition = { type: "Ready", status: "True", reason: "R", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const path = FieldPath.root("conditions");
  assert.deepEqual(validateConditions([condition], path), []);
  assert.deepEqual(validateConditions([condition, { ...condition, status: "Maybe" }], path).map(fieldErrorText), [
    'conditions[1].type: Duplicate value: "Ready"',
    'conditions[1].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
  ]);
});

test("values in the internal form", () => {
  assert.deepEqual(internalForm("api.core.v1.ServicePort", { port: 80 }), { Name: "", Protocol: "", AppProtocol: null, Port: 80, TargetPort: 0, NodePort: 0 });
  assert.deepEqual(internalForm("api.core.v1.ObjectReference", { uid: "u" }), {
    Kind: "",
    Namespace: "",
    Name: "",
    UID: "u",
    APIVersion: "",
    ResourceVersion: "",
    FieldPath: "",
  });
  assert.ok(isSemanticallyEqual("api.core.v1.PodSpec", { containers: [], nodeName: "" }, {}));
  assert.ok(!isSemanticallyEqual("api.core.v1.PodSpec", { hostUsers: false }, {}));
});

test("differences as unified diffs", () => {
  assert.equal(jsonDiff({ a: 1 }, { a: 1 }), "");
  assert.equal(jsonDiff({ a: 1, b: [2] }, { a: 1, b: [3] }), '@@ -1,6 +1,6 @@\n {\n  "a": 1,\n  "b": [\n-  2\n+  3\n  ]\n }\n');
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, index]));
  const hunks = jsonDiff(many, { ...many, k1: null, k15: null });
  assert.deepEqual(hunks.match(/@@.*@@/g), ["@@ -1,6 +1,6 @@", "@@ -14,7 +14,7 @@"]);
});
