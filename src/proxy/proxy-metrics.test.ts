import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricRegistry } from "../base/metrics.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import { proxyMetrics } from "./proxy-metrics.ts";

test("a proxy's metrics: durations of full and partial synchronisations, failures, changes, the last times", async () => {
  const registry = new MetricRegistry();
  const clock = new VirtualClock();
  const metrics = proxyMetrics(registry, clock);
  metrics.queued(3);
  await metrics.measure("full", async () => undefined);
  await assert.rejects(
    metrics.measure("partial", () => Promise.reject(new Error("no"))),
    { message: "no" },
  );
  const lines = registry.text().split("\n");
  for (const line of [
    "kubeproxy_sync_proxy_rules_duration_seconds_count 2",
    "kubeproxy_sync_full_proxy_rules_duration_seconds_count 1",
    "kubeproxy_sync_partial_proxy_rules_duration_seconds_count 1",
    "kubeproxy_sync_proxy_rules_nftables_sync_failures_total 1",
    "kubeproxy_sync_proxy_rules_service_changes_total 3",
    `kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds ${clock.nowMs() / 1000}`,
    `kubeproxy_sync_proxy_rules_last_timestamp_seconds ${clock.nowMs() / 1000}`,
  ])
    assert.ok(lines.includes(line), `${line} in ${registry.text()}`);
});
