import { quantityMilli, quantityOf } from "../../apimachinery/quantity.ts";
import { countForAverage, countForPods, countForValue, requestsOf } from "./replica-count.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { MetricIdentifier, MetricSpec, MetricStatus, MetricTarget } from "../../api/autoscaling-v2/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { MetricSources, PodAmounts } from "./metric-sources.ts";
import type { Tolerance } from "./replica-count.ts";

/** Asks for one metric of an autoscaler and tells which size it wants. Throws `MetricError`. */
export async function evaluateMetric(metric: DeepReadonly<MetricSpec>, target: MetricSubject, sources: MetricSources): Promise<Evaluation> {
  switch (metric.type) {
    case "Resource":
    case "ContainerResource":
      return evaluateResource(metric, target, sources);
    case "Pods":
      return evaluatePods(metric, target, sources);
    case "Object":
      return evaluateObject(metric, target, sources);
    case "External":
      return evaluateExternal(metric, target, sources);
    default:
      throw new MetricError("InvalidMetricSourceType", `unknown metric source type "${metric.type}"`, `unknown metric source type "${metric.type}"`);
  }
}

export interface MetricSubject {
  readonly namespace: string;
  readonly labelSelector: string;
  readonly pods: readonly DeepReadonly<Pod>[];
  /** As the scale subresource tells: asked for, and there. */
  readonly current: number;
  readonly present: number;
  readonly tolerance: Tolerance;
  readonly nowMs: number;
}

export interface Evaluation {
  readonly replicas: number;
  readonly name: string;
  readonly status: MetricStatus;
}

/** A metric that could not be had. `reason` is that of the condition and the event; `message` is what the event says, `summary` how the whole fails. */
export class MetricError extends Error {
  override name = "MetricError";
  readonly reason: string;
  readonly summary: string;
  constructor(reason: string, message: string, summary: string) {
    super(message);
    this.reason = reason;
    this.summary = summary;
  }
}

async function evaluateResource(metric: DeepReadonly<MetricSpec>, subject: MetricSubject, sources: MetricSources): Promise<Evaluation> {
  const source = metric.containerResource ?? metric.resource!;
  const { name: resource, target } = source;
  const container = metric.containerResource?.container;
  const percent = target.averageValue === undefined ? target.averageUtilization : undefined;
  const label = container === undefined ? `${resource} resource` : `${resource} container resource`;
  const reason = container === undefined ? "FailedGetResourceMetric" : "FailedGetContainerResourceMetric";
  try {
    const measured = await sources.resource(subject.namespace, subject.labelSelector, resource, container);
    const requests = percent === undefined ? undefined : requestsOf(subject.pods, resource, container);
    const aim = percent === undefined ? { milli: quantityMilli(target.averageValue ?? "0") } : { percent };
    const found = countForPods(
      { ...subject, ...measured, target: aim, isProcessorTime: resource === "cpu", ...(requests !== undefined && { requests }) },
      subject.nowMs,
    );
    const current = { averageValue: milliText(found.averageMilli), ...(found.utilization !== undefined && { averageUtilization: found.utilization }) };
    const status: MetricStatus =
      container === undefined
        ? { type: "Resource", resource: { name: resource, current } }
        : { type: "ContainerResource", containerResource: { name: resource, container, current } };
    return { replicas: found.replicas, name: percent === undefined ? label : `${label} utilization (percentage of request)`, status };
  } catch (error) {
    const message = `failed to get ${resource} ${percent === undefined ? "usage" : "utilization"}: ${(error as Error).message}`;
    throw new MetricError(reason, message, `failed to get ${resource} ${container === undefined ? "resource" : "container"} metric value: ${message}`);
  }
}

async function evaluatePods({ pods }: DeepReadonly<MetricSpec>, subject: MetricSubject, sources: MetricSources): Promise<Evaluation> {
  const { metric, target } = pods!;
  try {
    const measured: PodAmounts = await sources.pods(subject.namespace, subject.labelSelector, metric);
    const aim = { milli: quantityMilli(target.averageValue ?? "0") };
    const found = countForPods({ ...subject, amounts: measured.amounts, target: aim, isProcessorTime: false }, subject.nowMs);
    return {
      replicas: found.replicas,
      name: `pods metric ${metric.name}`,
      status: { type: "Pods", pods: { metric: copy(metric), current: { averageValue: milliText(found.averageMilli) } } },
    };
  } catch (error) {
    throw failure("FailedGetPodsMetric", "pods", error);
  }
}

async function evaluateObject({ object }: DeepReadonly<MetricSpec>, subject: MetricSubject, sources: MetricSources): Promise<Evaluation> {
  const { describedObject, metric, target } = object!;
  try {
    const valueMilli = await sources.object(subject.namespace, describedObject, metric);
    const { replicas, current } = sizeFor(valueMilli, target, subject);
    const name = target.value === undefined ? `external metric ${metric.name}(${selectorName(metric)})` : `${describedObject.kind} metric ${metric.name}`;
    return { replicas, name, status: { type: "Object", object: { metric: copy(metric), describedObject: { ...describedObject }, current } } };
  } catch (error) {
    throw failure("FailedGetObjectMetric", "object", error);
  }
}

async function evaluateExternal({ external }: DeepReadonly<MetricSpec>, subject: MetricSubject, sources: MetricSources): Promise<Evaluation> {
  const { metric, target } = external!;
  try {
    const valueMilli = await sources.external(subject.namespace, metric);
    const { replicas, current } = sizeFor(valueMilli, target, subject);
    return {
      replicas,
      name: `external metric ${metric.name}(${selectorName(metric)})`,
      status: { type: "External", external: { metric: copy(metric), current } },
    };
  } catch (error) {
    const message = `failed to get ${metric.name} external metric: ${(error as Error).message}`;
    throw new MetricError("FailedGetExternalMetric", message, `failed to get ${metric.name} external metric value: ${message}`);
  }
}

function sizeFor(
  valueMilli: number,
  target: DeepReadonly<MetricTarget>,
  subject: MetricSubject,
): { replicas: number; current: { value?: string; averageValue?: string } } {
  if (target.value !== undefined) {
    const ready = subject.pods.filter(
      ({ status }) => status?.phase === "Running" && status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true,
    ).length;
    return { replicas: countForValue(valueMilli, quantityMilli(target.value), { ...subject, ready }), current: { value: milliText(valueMilli) } };
  }
  const replicas = countForAverage(valueMilli, quantityMilli(target.averageValue ?? "0"), { ...subject, current: subject.present });
  return { replicas, current: { averageValue: milliText(subject.present === 0 ? valueMilli : Math.ceil(valueMilli / subject.present)) } };
}

function failure(reason: string, what: string, error: unknown): MetricError {
  const message = (error as Error).message;
  return new MetricError(reason, message, `failed to get ${what} metric value: ${message}`);
}

function milliText(amount: number): string {
  return quantityOf(Math.floor(amount), "decimalSI", -3).text;
}

function copy({ name, selector }: DeepReadonly<MetricIdentifier>): MetricIdentifier {
  return { name, ...(selector !== undefined && { selector: selector as NonNullable<MetricIdentifier["selector"]> }) };
}

function selectorName({ selector }: DeepReadonly<MetricIdentifier>): string {
  if (selector === undefined) return "nil";
  const labels = Object.entries(selector.matchLabels ?? {}).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.map(([key, value]) => `${key}: ${value},`).join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
