/** Rules of the metrics that an autoscaler follows (API reference "MetricSpec v2 autoscaling"). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Label, pathSegmentName } from "../../apimachinery/names.ts";
import { compareQuantities } from "../../apimachinery/quantity.ts";
import { quantityText } from "../core-v1/resource-names.ts";
import { validateDescribedObject } from "./target-reference.ts";
import type {
  ContainerResourceMetricSource,
  ExternalMetricSource,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
  ResourceMetricSource,
} from "./types.ts";

export function validateMetrics(metrics: readonly MetricSpec[], minReplicas: number, path: FieldPath): FieldError[] {
  const errors = metrics.flatMap((metric, index) => validateMetric(metric, path.index(index)));
  const needsOther = minReplicas === 0 && !metrics.some(({ type }) => type === "Object" || type === "External");
  return needsOther ? [...errors, forbidden(path, "must specify at least one Object or External metric to support scaling to zero replicas")] : errors;
}

/** In the order in which they are looked at: of several sources only the first is checked. */
const sources: readonly (readonly [type: string, field: Exclude<keyof MetricSpec, "type">])[] = [
  ["Object", "object"],
  ["External", "external"],
  ["Pods", "pods"],
  ["Resource", "resource"],
  ["ContainerResource", "containerResource"],
];

function validateMetric(metric: MetricSpec, path: FieldPath): FieldError[] {
  const { type = "" } = metric;
  const errors: FieldError[] = [];
  const types = sources.map(([name]) => name).sort();
  if (type === "") errors.push(required(path.child("type"), "must specify a metric source type"));
  if (!types.includes(type)) errors.push(notSupported(path.child("type"), type, types));
  const present = sources.map(([, field]) => field).filter((field) => metric[field] !== undefined);
  if (present.length > 0) errors.push(...validateSource(metric, present[0]!, path.child(present[0]!)));
  const expected = sources.find(([name]) => name === type)?.[1];
  if (expected !== undefined && !present.includes(expected))
    errors.push(required(path.child(expected), "must populate information for the given metric source"));
  const others = present.length === 1 ? [] : present.filter((field) => field !== expected);
  return [...errors, ...others.map((field) => forbidden(path.child(field), "must populate the given metric source only"))];
}

function validateSource(metric: MetricSpec, field: (typeof sources)[number][1], path: FieldPath): FieldError[] {
  switch (field) {
    case "object":
      return validateObject(metric.object!, path);
    case "external":
      return validateExternal(metric.external!, path);
    case "pods":
      return validatePods(metric.pods!, path);
    case "resource":
      return validateResource(metric.resource!, path);
    case "containerResource":
      return validateContainerResource(metric.containerResource!, path);
  }
}

function validateObject({ describedObject, metric, target = noTarget }: ObjectMetricSource, path: FieldPath): FieldError[] {
  const hasAny = target.value !== undefined || target.averageValue !== undefined;
  return [
    ...validateDescribedObject(describedObject ?? {}, path.child("describedObject")),
    ...validateIdentifier(metric, path.child("metric")),
    ...validateTarget(target, path.child("target")),
    ...(hasAny ? [] : [required(path.child("target", "averageValue"), "must set either a target value or averageValue")]),
  ];
}

function validateExternal({ metric, target = noTarget }: ExternalMetricSource, path: FieldPath): FieldError[] {
  const errors = [...validateIdentifier(metric, path.child("metric")), ...validateTarget(target, path.child("target"))];
  const { value, averageValue } = target;
  if (value === undefined && averageValue === undefined)
    errors.push(required(path.child("target", "averageValue"), "must set either a target value for metric or a per-pod target"));
  if (value !== undefined && averageValue !== undefined)
    errors.push(forbidden(path.child("target", "value"), "may not set both a target value for metric and a per-pod target"));
  return errors;
}

function validatePods({ metric, target = noTarget }: PodsMetricSource, path: FieldPath): FieldError[] {
  return [
    ...validateIdentifier(metric, path.child("metric")),
    ...validateTarget(target, path.child("target")),
    ...(target.averageValue === undefined ? [required(path.child("target", "averageValue"), "must specify a positive target averageValue")] : []),
  ];
}

function validateResource({ name, target = noTarget }: ResourceMetricSource, path: FieldPath): FieldError[] {
  return [...validateResourceName(name, path), ...validateTarget(target, path.child("target")), ...validateUse(target, path.child("target"))];
}

function validateContainerResource({ name, container = "", target = noTarget }: ContainerResourceMetricSource, path: FieldPath): FieldError[] {
  const at = path.child("container");
  return [
    ...validateResourceName(name, path),
    ...(container === "" ? [required(at, "must specify a container")] : invalidEach(at, container, isDns1123Label(container))),
    ...validateTarget(target, path.child("target")),
    ...validateUse(target, path.child("target")),
  ];
}

const noTarget: MetricTarget = { type: "" };
const targetTypes = ["Utilization", "Value", "AverageValue"];

function validateTarget({ type = "", value, averageValue, averageUtilization }: MetricTarget, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (type === "") errors.push(required(path.child("type"), "must specify a metric target type"));
  if (!targetTypes.includes(type)) errors.push(invalid(path.child("type"), type, "must be either Utilization, Value, or AverageValue"));
  for (const [name, amount] of [
    ["value", value],
    ["averageValue", averageValue],
  ] as const) {
    if (amount !== undefined && compareQuantities(amount, 0) <= 0) errors.push(invalid(path.child(name), quantityText(amount), "must be positive"));
  }
  if (averageUtilization !== undefined && averageUtilization < 1)
    errors.push(invalid(path.child("averageUtilization"), averageUtilization, "must be greater than 0"));
  return errors;
}

/** How much of a resource pods may use: a part of what they asked for, or an amount. */
function validateUse({ averageUtilization, averageValue }: MetricTarget, path: FieldPath): FieldError[] {
  if (averageUtilization === undefined && averageValue === undefined)
    return [required(path.child("averageUtilization"), "must set either a target raw value or a target utilization")];
  return averageUtilization !== undefined && averageValue !== undefined
    ? [forbidden(path.child("averageValue"), "may not set both a target raw value and a target utilization")]
    : [];
}

function validateResourceName(name: string | undefined, path: FieldPath): FieldError[] {
  return name ? [] : [required(path.child("name"), "must specify a resource name")];
}

function validateIdentifier(metric: MetricIdentifier | undefined, path: FieldPath): FieldError[] {
  const name = metric?.name ?? "";
  return name === "" ? [required(path.child("name"), "must specify a metric name")] : invalidEach(path.child("name"), name, pathSegmentName(name));
}
