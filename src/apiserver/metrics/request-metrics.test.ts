import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricRegistry } from "../../base/metrics.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { ApiResponse } from "../../apimachinery/request.ts";
import { parseRequestInfo } from "../http/request-info.ts";
import type { RequestContext } from "../request-context.ts";
import { RequestMetrics } from "./request-metrics.ts";

function contextOf(clock: VirtualClock, method: string, target: string): RequestContext {
  const [path = "", search = ""] = target.split("?");
  const query = new URLSearchParams(search);
  return {
    server: { clock, resources: { find: () => ({ subresources: new Map() }) } },
    request: { method, path },
    query,
    info: parseRequestInfo(method, path, query),
    user: { username: "u", groups: [] },
  } as unknown as RequestContext;
}

const bytes = (status: number, length = 0): ApiResponse => ({ status, headers: {}, body: { kind: "bytes", bytes: new Uint8Array(length) } });

test("requests are counted under Kubernetes' labels", () => {
  const table: [method: string, target: string, status: number, line: string][] = [
    [
      "GET",
      "/api/v1/namespaces/n/pods/p",
      200,
      'apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1"} 1',
    ],
    [
      "POST",
      "/apis/apps/v1/namespaces/n/deployments?dryRun=All",
      201,
      'apiserver_request_total{code="201",component="apiserver",dry_run="All",group="apps",resource="deployments",scope="resource",subresource="",verb="POST",version="v1"} 1',
    ],
    [
      "GET",
      "/api/v1/nodes",
      200,
      'apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="nodes",scope="cluster",subresource="",verb="LIST",version="v1"} 1',
    ],
    [
      "GET",
      "/version",
      403,
      'apiserver_request_total{code="403",component="apiserver",dry_run="",group="",resource="",scope="",subresource="",verb="GET",version=""} 1',
    ],
  ];
  for (const [method, target, status, line] of table) {
    const registry = new MetricRegistry();
    new RequestMetrics(registry).begin(contextOf(new VirtualClock(), method, target))(bytes(status));
    assert.ok(registry.text().includes(`${line}\n`), `${method} ${target}\n${registry.text()}`);
  }
});

test("a watch is open until its stream has ended", () => {
  const registry = new MetricRegistry();
  const metrics = new RequestMetrics(registry);
  const context = contextOf(new VirtualClock(), "GET", "/api/v1/pods?watch=1");
  const open = (value: number) => assert.match(registry.text(), new RegExp(`apiserver_longrunning_requests\\{.*resource="pods".*verb="WATCH".*\\} ${value}\n`));
  metrics.begin(context)({ status: 200, headers: {}, body: { kind: "stream", chunks: (async function* () {})() } });
  open(1);
  assert.ok(!registry.text().includes('code="200"'));
  context.streamEnded!();
  open(0);
  assert.match(registry.text(), /apiserver_request_total\{code="200".*verb="WATCH".*\} 1\n/);
});
