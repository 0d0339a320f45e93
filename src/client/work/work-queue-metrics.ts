import { exponentialBuckets } from "../../base/metrics.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import type { WorkQueueMetrics } from "./work-queue.ts";

/** The queue metrics of Kubernetes' components, with `name` as their label. */
export function workQueueMetrics(registry: MetricRegistry, name: string): WorkQueueMetrics {
  const buckets = exponentialBuckets(1e-8, 10, 10);
  const adds = registry.counter("workqueue_adds_total", "Total number of adds handled by workqueue", ["name"]);
  const depth = registry.gauge("workqueue_depth", "Current depth of workqueue", ["name"]);
  const waited = registry.histogram("workqueue_queue_duration_seconds", "How long in seconds an item stays in workqueue before being requested.", buckets, [
    "name",
  ]);
  const worked = registry.histogram("workqueue_work_duration_seconds", "How long in seconds processing an item from workqueue takes.", buckets, ["name"]);
  const retries = registry.counter("workqueue_retries_total", "Total number of retries handled by workqueue", ["name"]);
  return {
    onAdd(length) {
      adds.add(1, name);
      depth.set(length, name);
    },
    onTake(waitedMs, length) {
      waited.observe(waitedMs / 1000, name);
      depth.set(length, name);
    },
    onDone: (workedMs) => worked.observe(workedMs / 1000, name),
    onRetry: () => retries.add(1, name),
  };
}
