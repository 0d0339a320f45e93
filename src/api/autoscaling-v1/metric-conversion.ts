/** Metrics as the annotations of autoscaling/v1 hold them: flat, each source with its own names for its target. */
import type { MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from "../autoscaling-v2/types.ts";

type Flat = Record<string, unknown>;
/** [field of autoscaling/v2, name in the annotation], in the order in which it is written. */
type Names = readonly (readonly [field: string, name: string])[];

const targetNames: Readonly<Record<string, Names>> = {
  object: [
    ["describedObject", "target"],
    ["metric.name", "metricName"],
    ["target.value", "targetValue"],
    ["metric.selector", "selector"],
    ["target.averageValue", "averageValue"],
  ],
  pods: [
    ["metric.name", "metricName"],
    ["target.averageValue", "targetAverageValue"],
    ["metric.selector", "selector"],
  ],
  resource: [
    ["name", "name"],
    ["target.averageUtilization", "targetAverageUtilization"],
    ["target.averageValue", "targetAverageValue"],
  ],
  containerResource: [
    ["name", "name"],
    ["target.averageUtilization", "targetAverageUtilization"],
    ["target.averageValue", "targetAverageValue"],
    ["container", "container"],
  ],
  external: [
    ["metric.name", "metricName"],
    ["metric.selector", "metricSelector"],
    ["target.value", "targetValue"],
    ["target.averageValue", "targetAverageValue"],
  ],
};

const statusNames: Readonly<Record<string, Names>> = {
  object: [
    ["describedObject", "target"],
    ["metric.name", "metricName"],
    ["current.value", "currentValue"],
    ["metric.selector", "selector"],
    ["current.averageValue", "averageValue"],
  ],
  pods: [
    ["metric.name", "metricName"],
    ["current.averageValue", "currentAverageValue"],
    ["metric.selector", "selector"],
  ],
  resource: [
    ["name", "name"],
    ["current.averageUtilization", "currentAverageUtilization"],
    ["current.averageValue", "currentAverageValue"],
  ],
  containerResource: [
    ["name", "name"],
    ["current.averageUtilization", "currentAverageUtilization"],
    ["current.averageValue", "currentAverageValue"],
    ["container", "container"],
  ],
  external: [
    ["metric.name", "metricName"],
    ["metric.selector", "metricSelector"],
    ["current.value", "currentValue"],
    ["current.averageValue", "currentAverageValue"],
  ],
};

/** Amounts that the old types cannot leave out. */
const alwaysWritten = new Set([
  "object.targetValue",
  "pods.targetAverageValue",
  "object.currentValue",
  "pods.currentAverageValue",
  "resource.currentAverageValue",
  "containerResource.currentAverageValue",
  "external.currentValue",
]);

export function metricToOld(metric: MetricSpec): Flat {
  return flatten(metric as unknown as Flat, targetNames);
}

export function metricStatusToOld(status: MetricStatus): Flat {
  return flatten(status as unknown as Flat, statusNames);
}

export function metricFromOld(old: Flat): MetricSpec {
  const metric = unfold(old, targetNames) as unknown as MetricSpec;
  for (const field of Object.keys(targetNames)) {
    const source = metric[field as "pods"];
    if (source !== undefined) source.target = withType(source.target ?? {});
  }
  return metric;
}

export function metricStatusFromOld(old: Flat): MetricStatus {
  const status = unfold(old, statusNames) as unknown as MetricStatus;
  for (const field of Object.keys(statusNames)) {
    const source = status[field as "pods"];
    if (source !== undefined) source.current ??= {} as MetricValueStatus;
  }
  return status;
}

/** The type of a target is not written: it follows from what is set. */
function withType(target: Partial<MetricTarget>): MetricTarget {
  const { value, averageValue, averageUtilization } = target;
  if (averageUtilization !== undefined) return { ...target, type: "Utilization" };
  if (averageValue === undefined) return { ...target, type: "Value" };
  const { value: _zero, ...rest } = target;
  return value === "0" ? { ...rest, type: "AverageValue" } : { ...target, type: "AverageValue" };
}

function flatten(metric: Flat, names: Readonly<Record<string, Names>>): Flat {
  const flat: Flat = { type: metric["type"] };
  for (const [field, rows] of Object.entries(names)) {
    if (metric[field] === undefined) continue;
    const source: Flat = {};
    for (const [path, name] of rows) {
      const value = path.split(".").reduce<unknown>((holder, member) => (holder as Flat | undefined)?.[member], metric[field]);
      if (value !== undefined) source[name] = value;
      else if (alwaysWritten.has(`${field}.${name}`)) source[name] = "0";
    }
    flat[field] = source;
  }
  return flat;
}

function unfold(flat: Flat, names: Readonly<Record<string, Names>>): Flat {
  const metric: Flat = { type: flat["type"] ?? "" };
  for (const [field, rows] of Object.entries(names)) {
    const source = flat[field] as Flat | undefined;
    if (typeof source !== "object" || source === null) continue;
    const unfolded: Flat = {};
    for (const [path, name] of rows) {
      if (source[name] === undefined) continue;
      const members = path.split(".");
      const holder = members.length === 1 ? unfolded : ((unfolded[members[0]!] ??= {}) as Flat);
      holder[members.at(-1)!] = source[name];
    }
    metric[field] = unfolded;
  }
  return metric;
}
