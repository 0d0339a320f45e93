import assert from "node:assert/strict";
import { test } from "node:test";
import type { HorizontalPodAutoscaler, MetricSpec } from "../autoscaling-v2/types.ts";
import { autoscalerFromOld, autoscalerToOld } from "./conversion.ts";

const cpu: MetricSpec = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } };
const others: MetricSpec[] = [
  { type: "External", external: { metric: { name: "q", selector: { matchLabels: { a: "b" } } }, target: { type: "Value", value: "1500m" } } },
  {
    type: "Object",
    object: { describedObject: { kind: "Service", name: "s", apiVersion: "v1" }, target: { type: "Value", value: "5k" }, metric: { name: "m" } },
  },
  { type: "ContainerResource", containerResource: { name: "cpu", container: "c", target: { type: "Utilization", averageUtilization: 5 } } },
  { type: "Pods", pods: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "10" } } },
];

const autoscaler = (metrics: MetricSpec[]): HorizontalPodAutoscaler => ({
  metadata: { name: "x", annotations: { own: "note" } },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
    maxReplicas: 3,
    metrics,
    behavior: { scaleDown: { selectPolicy: "Disabled", policies: [] } },
  },
  status: { desiredReplicas: 2, currentMetrics: [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: 55, averageValue: "0" } } }] },
});

test("nothing is lost on the way through the old version", () => {
  const { metadata, spec, status } = autoscalerFromOld(autoscalerToOld(autoscaler([...others, cpu])));
  const before = autoscaler([...others, cpu]);
  assert.deepEqual(metadata, before.metadata);
  assert.deepEqual(spec, before.spec);
  assert.deepEqual(status?.currentMetrics, before.status?.currentMetrics);
});

test("the use of CPU has a field of its own", () => {
  const old = autoscalerToOld(autoscaler([cpu]));
  assert.equal(old.spec?.targetCPUUtilizationPercentage, 50);
  assert.equal(old.status?.currentCPUUtilizationPercentage, 55);
  assert.deepEqual(Object.keys(old.metadata.annotations ?? {}).sort(), [
    "autoscaling.alpha.kubernetes.io/behavior",
    "autoscaling.alpha.kubernetes.io/current-metrics",
    "own",
  ]);
});

test("annotations that cannot be read are dropped", () => {
  const old = {
    metadata: { name: "x", annotations: { "autoscaling.alpha.kubernetes.io/metrics": "{" } },
    spec: { scaleTargetRef: { kind: "K", name: "n" }, maxReplicas: 1 },
  };
  assert.deepEqual(autoscalerFromOld(old).metadata, { name: "x" });
  assert.equal(autoscalerFromOld(old).spec?.metrics, undefined);
});
