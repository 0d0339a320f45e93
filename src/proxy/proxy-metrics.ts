/** What a proxy tells of its work, under the names of kube-proxy's metrics. */
import type { Clock } from "../base/clock.ts";
import type { MetricRegistry } from "../base/metrics.ts";

export interface ProxyMetrics {
  /** Measures one synchronisation; what rejects counts as a failure. */
  measure(how: "full" | "partial", sync: () => Promise<void>): Promise<void>;
  /** So many Services (with their endpoints) are to be planned anew. */
  queued(services: number): void;
}

export function proxyMetrics(registry: MetricRegistry, clock: Clock): ProxyMetrics {
  const prefix = "kubeproxy_sync";
  const all = registry.histogram(`${prefix}_proxy_rules_duration_seconds`, "[ALPHA] SyncProxyRules latency in seconds", durations);
  const byKind = {
    full: registry.histogram(`${prefix}_full_proxy_rules_duration_seconds`, "[ALPHA] SyncProxyRules latency in seconds for full resyncs", durations),
    partial: registry.histogram(`${prefix}_partial_proxy_rules_duration_seconds`, "[ALPHA] SyncProxyRules latency in seconds for partial resyncs", durations),
  };
  const failures = registry.counter(`${prefix}_proxy_rules_nftables_sync_failures_total`, "[ALPHA] Cumulative proxy nftables sync failures");
  const changes = registry.counter(`${prefix}_proxy_rules_service_changes_total`, "[ALPHA] Cumulative proxy rules Service changes");
  const queuedAt = registry.gauge(`${prefix}_proxy_rules_last_queued_timestamp_seconds`, "[ALPHA] The last time a sync of proxy rules was queued");
  const doneAt = registry.gauge(`${prefix}_proxy_rules_last_timestamp_seconds`, "[ALPHA] The last time proxy rules were successfully synced");
  for (const counter of [failures, changes]) counter.add(0);
  return {
    queued(services) {
      changes.add(services);
      queuedAt.set(clock.nowMs() / 1000);
    },
    async measure(how, sync) {
      const startedMs = clock.monotonicMs();
      try {
        await sync();
        doneAt.set(clock.nowMs() / 1000);
      } catch (error) {
        failures.add(1);
        throw error;
      } finally {
        const seconds = (clock.monotonicMs() - startedMs) / 1000;
        all.observe(seconds);
        byKind[how].observe(seconds);
      }
    },
  };
}

/** From a millisecond to 16 s, each twice the one before. */
const durations = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);
