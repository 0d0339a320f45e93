import { exponentialBuckets, MetricRegistry } from "../../base/metrics.ts";
import type { Counter, Gauge, Histogram } from "../../base/metrics.ts";

/** Metrics under the names that Kubernetes declares (reference page "Kubernetes Metrics"). Times are in seconds. */
export class SchedulerMetrics {
  readonly registry = new MetricRegistry();
  readonly attempts: Counter;
  readonly attemptSeconds: Histogram;
  readonly algorithmSeconds: Histogram;
  readonly podAttempts: Histogram;
  readonly podSeconds: Histogram;
  readonly preemptions: Counter;
  readonly victims: Histogram;
  readonly pending: Gauge;
  readonly unschedulable: Gauge;
  readonly cacheSize: Gauge;

  constructor() {
    const { registry } = this;
    this.attempts = registry.counter("scheduler_schedule_attempts_total", "Number of attempts to schedule pods, by the result.", ["result", "profile"]);
    const attemptHelp = "Scheduling attempt latency in seconds (scheduling algorithm + binding)";
    const seconds = exponentialBuckets(0.001, 2, 15);
    this.attemptSeconds = registry.histogram("scheduler_scheduling_attempt_duration_seconds", attemptHelp, seconds, ["result", "profile"]);
    this.algorithmSeconds = registry.histogram("scheduler_scheduling_algorithm_duration_seconds", "Scheduling algorithm latency in seconds", seconds);
    const podAttemptsHelp = "Number of attempts to successfully schedule a pod.";
    this.podAttempts = registry.histogram("scheduler_pod_scheduling_attempts", podAttemptsHelp, exponentialBuckets(1, 2, 5));
    const podSecondsHelp =
      "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple scheduling attempts.";
    this.podSeconds = registry.histogram("scheduler_pod_scheduling_sli_duration_seconds", podSecondsHelp, exponentialBuckets(0.01, 2, 20), ["attempts"]);
    this.preemptions = registry.counter("scheduler_preemption_attempts_total", "Total preemption attempts in the cluster till now");
    this.victims = registry.histogram("scheduler_preemption_victims", "Number of selected preemption victims", exponentialBuckets(1, 2, 7));
    this.pending = registry.gauge("scheduler_pending_pods", "Number of pending pods, by the queue type.", ["queue"]);
    const unschedulableHelp = "The number of unschedulable pods broken down by plugin name.";
    this.unschedulable = registry.gauge("scheduler_unschedulable_pods", unschedulableHelp, ["plugin", "profile"]);
    this.cacheSize = registry.gauge("scheduler_cache_size", "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.", ["type"]);
  }
}
