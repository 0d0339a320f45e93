/** Rows of autoscalers: current over wanted value of each metric, two of them shown. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { age, cutList, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from "./types.ts";

export const horizontalPodAutoscalerColumns: TablePrinter<HorizontalPodAutoscaler> = {
  cells(autoscaler, context) {
    const { spec, status } = autoscaler;
    const metrics = (spec?.metrics ?? []).map((metric, index) => metricText(metric, status?.currentMetrics?.[index]));
    return [
      nameOf(autoscaler),
      `${spec?.scaleTargetRef?.kind ?? ""}/${spec?.scaleTargetRef?.name ?? ""}`,
      metrics.length === 0 ? "<none>" : cutList(metrics, 2, ", "),
      String(spec?.minReplicas ?? "<unset>"),
      spec?.maxReplicas ?? 0,
      status?.currentReplicas ?? 0,
      age(autoscaler, context),
    ];
  },
};

function metricText(metric: DeepReadonly<MetricSpec>, status: DeepReadonly<MetricStatus> | undefined): string {
  switch (metric.type) {
    case "External":
      return valueText(metric.external?.target, status?.external?.current);
    case "Object":
      return valueText(metric.object?.target, status?.object?.current);
    case "Pods":
      return `${status?.pods?.current.averageValue ?? "<unknown>"}/${metric.pods?.target.averageValue ?? "0"}`;
    case "Resource":
      return `${metric.resource?.name}: ${resourceText(metric.resource?.target, status?.resource?.current)}`;
    case "ContainerResource":
      return `${metric.containerResource?.name}: ${resourceText(metric.containerResource?.target, status?.containerResource?.current)}`;
    default:
      return "<unknown type>";
  }
}

function valueText(target: DeepReadonly<MetricTarget> | undefined, current: DeepReadonly<MetricValueStatus> | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? "<unknown>"}/${target.averageValue} (avg)`;
  return `${current?.value ?? "<unknown>"}/${target?.value ?? "0"}`;
}

function resourceText(target: DeepReadonly<MetricTarget> | undefined, current: DeepReadonly<MetricValueStatus> | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? "<unknown>"}/${target.averageValue}`;
  const percent = (utilization: number | undefined, otherwise: string) => (utilization === undefined ? otherwise : `${utilization}%`);
  return `${percent(current?.averageUtilization, "<unknown>")}/${percent(target?.averageUtilization, "<auto>")}`;
}
