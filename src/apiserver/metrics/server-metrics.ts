/** Values that are read when metrics are asked for: objects, versions, the process, what is enabled. */
import gates from "../../api/data/feature-gates.json" with { type: "json" };
import type { Gauge, MetricRegistry } from "../../base/metrics.ts";
import { versionInfo } from "../handlers/paths/version.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { ServerState } from "../server-state.ts";

/** Fills the gauges of `registry` from the server as it is. */
export async function readServerMetrics(server: ServerState, registry: MetricRegistry): Promise<void> {
  readResources(server, registry);
  readBuild(server, registry);
  readProcess(server, registry);
  server.flowControl?.readMetrics();
  server.inFlight.readMetrics();
  registry.gauge("apiserver_storage_size_bytes", "Bytes that the store occupies.", ["storage_cluster_id"]).set(await server.store.sizeBytes(), "0");
}

function readResources(server: ServerState, registry: MetricRegistry): void {
  const labels = ["group", "resource"];
  const objects = registry.gauge("apiserver_resource_objects", "Objects stored.", labels);
  const version = registry.gauge("apiserver_watch_cache_resource_version", "Newest version that the cache of a resource shows.", labels);
  for (const definition of storedOnce(server.resources)) {
    const { group, resource } = definition;
    objects.set(definition.storage!.cache.state.size, group, resource);
    version.set(server.cacher.revision, group, resource);
  }
}

/** One definition for each stored resource, whatever the versions it is served in. */
function storedOnce(resources: Iterable<ResourceDefinition>): ResourceDefinition[] {
  const found = new Map<string, ResourceDefinition>();
  for (const definition of resources) if (definition.storage !== undefined) found.set(`${definition.group}/${definition.resource}`, definition);
  return [...found.values()];
}

function readBuild(server: ServerState, registry: MetricRegistry): void {
  const { buildDate, compiler, gitCommit, gitTreeState, gitVersion, goVersion, major, minor, platform } = versionInfo;
  registry
    .gauge("kubernetes_build_info", "Version spoken; the value is 1.", [
      "build_date",
      "compiler",
      "git_commit",
      "git_tree_state",
      "git_version",
      "go_version",
      "major",
      "minor",
      "platform",
    ])
    .set(1, buildDate, compiler, gitCommit, gitTreeState, gitVersion, goVersion, major, minor, platform);
  const enabled = registry.gauge("kubernetes_feature_enabled", "Whether a feature gate is on.", ["name", "stage"]);
  for (const [name, { stage }] of Object.entries(gates as Record<string, { stage: string }>))
    enabled.set(server.isEnabled(name) ? 1 : 0, name, stage === "GA" ? "" : stage);
}

function readProcess(server: ServerState, registry: MetricRegistry): void {
  const { user, system } = process.cpuUsage();
  cumulative(registry, "process_cpu_seconds_total", "Processor time used.", (user + system) / 1e6);
  registry.gauge("process_resident_memory_bytes", "Memory in use.").set(process.memoryUsage.rss());
  registry.gauge("process_start_time_seconds", "When the process began, since the epoch.").set(server.clock.nowMs() / 1000 - process.uptime());
}

/** Brings a counter to a total that is counted elsewhere. */
function cumulative(registry: MetricRegistry, name: string, help: string, total: number): void {
  const counter = registry.counter(name, help);
  counter.add(total - counter.value());
}

/** Gauges of `/metrics/slis`: each check of the health endpoints, 1 when healthy. */
export function healthGauge(registry: MetricRegistry): Gauge {
  return registry.gauge("kubernetes_healthcheck", "Result of the last look at a health check, 1 when healthy.", ["name", "type"]);
}
