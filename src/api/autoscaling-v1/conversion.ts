/**
 * Autoscalers of autoscaling/v1 know one metric, the use of CPU; all else that autoscaling/v2 says stands in annotations there
 * (documentation page "HorizontalPodAutoscaler", "Migrating … to the v2 API").
 */
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerBehavior, MetricSpec, MetricStatus } from "../autoscaling-v2/types.ts";
import { internalForm } from "../meta/internal-form.ts";
import { behaviorFromInternal } from "./behavior-conversion.ts";
import { metricFromOld, metricStatusFromOld, metricStatusToOld, metricToOld } from "./metric-conversion.ts";
import type { HorizontalPodAutoscaler as OldAutoscaler } from "./types.ts";

const annotations = {
  metrics: "autoscaling.alpha.kubernetes.io/metrics",
  currentMetrics: "autoscaling.alpha.kubernetes.io/current-metrics",
  conditions: "autoscaling.alpha.kubernetes.io/conditions",
  behavior: "autoscaling.alpha.kubernetes.io/behavior",
};

/** autoscaling/v2 → v1. Shares members with `autoscaler`. */
export function autoscalerToOld(autoscaler: HorizontalPodAutoscaler): OldAutoscaler {
  const { metrics: allMetrics, behavior, ...spec } = autoscaler.spec ?? { scaleTargetRef: {} as never, maxReplicas: 0 };
  const { currentMetrics: allCurrent, conditions: allConditions, ...status } = autoscaler.status ?? { desiredReplicas: 0 };
  // Stored objects have null for empty lists.
  const [metrics, currentMetrics, conditions] = [allMetrics ?? [], allCurrent ?? [], allConditions ?? []];
  const target = metrics.find(isCpuTarget)?.resource?.target.averageUtilization;
  const current = currentMetrics.find(isCpuStatus)?.resource?.current.averageUtilization;
  const others = metrics.filter((metric) => !isCpuTarget(metric)).map(metricToOld);
  const kept = withoutOwn(autoscaler.metadata.annotations);
  const own: Record<string, string> = {
    ...(others.length > 0 && { [annotations.metrics]: JSON.stringify(others) }),
    ...(currentMetrics.length > 0 && { [annotations.currentMetrics]: JSON.stringify(currentMetrics.map(metricStatusToOld)) }),
    ...(conditions.length > 0 && { [annotations.conditions]: JSON.stringify(conditions) }),
    ...(behavior !== undefined && { [annotations.behavior]: JSON.stringify(internalForm("api.autoscaling.v2.HorizontalPodAutoscalerBehavior", behavior)) }),
  };
  return {
    kind: "HorizontalPodAutoscaler",
    apiVersion: "autoscaling/v1",
    metadata: withAnnotations(autoscaler.metadata, { ...kept, ...own }),
    spec: { ...spec, ...(target !== undefined && { targetCPUUtilizationPercentage: target }) },
    status: { currentReplicas: 0, ...status, ...(current !== undefined && { currentCPUUtilizationPercentage: current }) },
  };
}

/** autoscaling/v1 → v2. Annotations that cannot be read are dropped. */
export function autoscalerFromOld(old: OldAutoscaler): HorizontalPodAutoscaler {
  const { targetCPUUtilizationPercentage: target, ...spec } = old.spec ?? { scaleTargetRef: {} as never, maxReplicas: 0 };
  const { currentCPUUtilizationPercentage: current, ...status } = old.status ?? { currentReplicas: 0, desiredReplicas: 0 };
  const noted = old.metadata.annotations ?? {};
  const cpu: MetricSpec[] =
    target === undefined ? [] : [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: target } } }];
  const metrics = [...(readList(noted[annotations.metrics]) ?? []).map(metricFromOld), ...cpu];
  const currentMetrics: MetricStatus[] =
    readList(noted[annotations.currentMetrics])?.map(metricStatusFromOld) ??
    (current === undefined ? [] : [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: current } } }]);
  const conditions = readList(noted[annotations.conditions]) as never[] | undefined;
  const behavior: HorizontalPodAutoscalerBehavior | undefined = behaviorFromInternal(read(noted[annotations.behavior]));
  return {
    kind: "HorizontalPodAutoscaler",
    apiVersion: "autoscaling/v2",
    metadata: withAnnotations(old.metadata, withoutOwn(noted)),
    spec: { ...spec, ...(metrics.length > 0 && { metrics }), ...(behavior !== undefined && { behavior }) },
    status: { ...status, ...(currentMetrics.length > 0 && { currentMetrics }), ...(conditions !== undefined && { conditions }) },
  };
}

function isCpuTarget({ type, resource }: MetricSpec): boolean {
  return type === "Resource" && resource?.name === "cpu" && resource.target.averageUtilization !== undefined;
}

function isCpuStatus({ type, resource }: MetricStatus): boolean {
  return type === "Resource" && resource?.name === "cpu" && resource.current.averageUtilization !== undefined;
}

function withoutOwn(noted: Readonly<Record<string, string>> | undefined): Record<string, string> {
  const own = Object.values(annotations);
  return Object.fromEntries(Object.entries(noted ?? {}).filter(([name]) => !own.includes(name)));
}

function withAnnotations(metadata: OldAutoscaler["metadata"], noted: Record<string, string>): OldAutoscaler["metadata"] {
  const { annotations: _old, ...rest } = metadata;
  return Object.keys(noted).length === 0 ? rest : { ...rest, annotations: noted };
}

function read(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // What a client wrote there is no business of the server's: upstream drops it, too.
    return undefined;
  }
}

function readList(text: string | undefined): Record<string, unknown>[] | undefined {
  const value = read(text);
  return Array.isArray(value) ? value : undefined;
}
