import { test } from "node:test";
import { equal } from "node:assert/strict";
import { exponentialBuckets, MetricRegistry } from "./metrics.ts";

test("metrics: the text that Prometheus reads", () => {
  const registry = new MetricRegistry();
  const requests = registry.counter("requests_total", "Requests, by code", ["verb", "code"]);
  requests.add(1, "get", "200");
  requests.add(2, "get", "404");
  registry.counter("requests_total", "Requests, by code", ["verb", "code"]).add(1, "get", "200");
  registry.gauge("depth", "Back\\slash\nand line").set(-1.5);
  const durations = registry.histogram("duration_seconds", "Durations", [0.1, 1], ["path"]);
  for (const value of [0.05, 0.1, 0.5, 3]) durations.observe(value, 'a"b');
  equal(
    registry.text(),
    [
      "# HELP depth Back\\\\slash\\nand line",
      "# TYPE depth gauge",
      "depth -1.5",
      "# HELP duration_seconds Durations",
      "# TYPE duration_seconds histogram",
      'duration_seconds_bucket{path="a\\"b",le="0.1"} 2',
      'duration_seconds_bucket{path="a\\"b",le="1"} 3',
      'duration_seconds_bucket{path="a\\"b",le="+Inf"} 4',
      'duration_seconds_sum{path="a\\"b"} 3.65',
      'duration_seconds_count{path="a\\"b"} 4',
      "# HELP requests_total Requests, by code",
      "# TYPE requests_total counter",
      'requests_total{verb="get",code="200"} 2',
      'requests_total{verb="get",code="404"} 2',
      "",
    ].join("\n"),
  );
});

test("metrics: exponential buckets", () => {
  equal(exponentialBuckets(1e-8, 10, 4).join(" "), "1e-8 1e-7 0.000001 0.00001");
});
