import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { KindStrategy, RuleContext } from "../strategy.ts";
import { controllerRevisions } from "./controllerrevision.ts";
import { daemonSets } from "./daemonset.ts";
import { deployments } from "./deployment.ts";
import { replicaSets } from "./replicaset.ts";
import { statefulSets } from "./statefulset.ts";

const context = {
  isEnabled: () => false,
  settings: { allowPrivileged: true, serviceCidrs: [], nodePortRange: { first: 30000, last: 32767 } },
} as unknown as RuleContext;
const base = () => ({
  selector: { matchLabels: { a: "b" } },
  template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
});

function made(strategy: KindStrategy, spec: object): KubeObject {
  const object = { metadata: { name: "x" }, spec: { ...base(), ...spec } } as KubeObject;
  strategy.defaults?.(object, 0);
  strategy.create.prepare?.(object, context);
  return object;
}

function faults(strategy: KindStrategy, spec: object): string[] {
  return strategy.create.validate!(made(strategy, spec), context).map(fieldErrorText);
}

test("faults of new workloads", () => {
  const table: [strategy: KindStrategy, spec: object, faults: string[]][] = [
    [deployments, {}, []],
    [deployments, { replicas: -1 }, ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"]],
    [deployments, { minReadySeconds: 600 }, ["spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"]],
    [
      deployments,
      { strategy: { type: "Bogus" } },
      ['spec.strategy: Unsupported value: {"Type":"Bogus","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"'],
    ],
    [
      deployments,
      { strategy: { rollingUpdate: { maxUnavailable: "0%", maxSurge: 0 } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
    ],
    [replicaSets, { selector: {} }, ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"]],
    [
      daemonSets,
      { updateStrategy: { rollingUpdate: { maxSurge: 1 } } },
      ["spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"],
    ],
    [statefulSets, { serviceName: "a.b" }, ['spec.serviceName: Invalid value: "a.b": must not contain dots']],
    [
      statefulSets,
      { updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 1 } } },
      ['spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\''],
    ],
  ];
  for (const [strategy, spec, expected] of table) assert.deepEqual(faults(strategy, spec), expected, JSON.stringify(spec));
});

test("claims of a stateful set are volumes of its pods", () => {
  const claim = { metadata: { name: "d" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i", volumeMounts: [{ name: "d", mountPath: "/d" }] }] } };
  assert.deepEqual(faults(statefulSets, { template, volumeClaimTemplates: [claim] }), []);
  assert.deepEqual(faults(statefulSets, { template }), ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "d"']);
});

test("the generation of a daemon set's template moves with the template", () => {
  const { update }: KindStrategy = daemonSets;
  const old = made(daemonSets, {});
  const annotation = (set: KubeObject) => set.metadata.annotations?.["deprecated.daemonset.template.generation"];
  assert.equal(annotation(old), "1");
  const scaled = made(daemonSets, { minReadySeconds: 5 });
  update.prepare!(scaled, old, context);
  assert.equal(annotation(scaled), "1");
  const changed = made(daemonSets, { template: { metadata: { labels: { a: "b", c: "d" } }, spec: base().template.spec } });
  update.prepare!(changed, old, context);
  assert.equal(annotation(changed), "2");
});

test("selectors and data of revisions are settled", () => {
  const other = { selector: { matchLabels: { z: "y" } }, template: { ...base().template, metadata: { labels: { z: "y" } } } };
  const immutable = 'spec.selector: Invalid value: {"matchLabels":{"z":"y"}}: field is immutable';
  for (const strategy of [deployments, replicaSets, daemonSets, statefulSets] as KindStrategy[]) {
    assert.deepEqual(strategy.update.validate!(made(strategy, other), made(strategy, {}), context).map(fieldErrorText), [immutable]);
  }
  const revision = { metadata: { name: "x" }, data: { a: 1 }, revision: 1 };
  assert.deepEqual(controllerRevisions.update.validate!({ ...revision, data: { a: 2 } }, revision, context).map(fieldErrorText), [
    'data: Invalid value: {"a":2}: field is immutable',
  ]);
});
