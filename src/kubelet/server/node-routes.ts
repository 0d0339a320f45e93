/** What the kubelet's server tells of the node itself: its pods, use, metrics, settings, logs, checkpoints. */
import { bytesResponse } from "../../apimachinery/request.ts";
import type { ApiResponse } from "../../apimachinery/request.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { settingsDocument } from "../configuration/settings-document.ts";
import { isRunning } from "../pod-sync/pod-runtime.ts";
import { RuntimeError } from "../runtime/cri.ts";
import type { StatsSnapshot } from "../stats/snapshot.ts";
import { kubeletMetrics } from "./metrics/kubelet-metrics.ts";
import { cadvisorMetrics, resourceMetrics } from "./metrics/resource-metrics.ts";
import type { Call } from "./server-call.ts";
import { notFound, plain } from "./server-call.ts";
import { statsSummary } from "./metrics/stats-summary.ts";
import { serveSystemLogs } from "./logs/system-logs.ts";

type Route = (call: Call) => Promise<ApiResponse>;

export const nodeRoutes: Readonly<Record<string, Route>> = {
  healthz: async ({ parts }) =>
    parts.length === 0 || healthParts.has(parts.join("/"))
      ? bytesResponse(200, "text/plain; charset=utf-8", "ok", { "x-content-type-options": "nosniff" })
      : notFound(),
  pods: async ({ options }) => podList(workers(options).map(({ pod }) => pod)),
  allocatedPods: async ({ options }) => podList(workers(options).map(({ grantedPod }) => grantedPod)),
  runningpods: async ({ options }) =>
    podList(
      workers(options)
        .filter(({ runtime }) => runtime.containers.some(isRunning))
        .map(({ pod, runtime }) =>
          runningPod(
            pod,
            runtime.containers.filter(isRunning).map(({ name }) => name),
          ),
        ),
    ),
  configz: async ({ options }) => json({ kubeletconfig: settingsDocument(options.settings) }),
  stats: async ({ options, parts, query, request }) => {
    if (parts.length !== 1 || parts[0] !== "summary") return notFound();
    const isBrief = query.get("only_cpu_and_memory") === "true";
    return json(statsSummary(await options.stats.take({ withDisk: !isBrief }, request.signal), { isBrief }));
  },
  metrics: serveMetrics,
  logs: serveSystemLogs,
  checkpoint: serveCheckpoint,
};

const healthParts = new Set(["", "ping", "log", "syncloop"]);
const workers = ({ workers: list }: Call["options"]) => [...list()];
const json = (value: object) => bytesResponse(200, "application/json", JSON.stringify(value));
const podList = (items: readonly DeepReadonly<Pod>[]) => json({ kind: "PodList", apiVersion: "v1", metadata: {}, items });
const metricsType = "text/plain; version=0.0.4; charset=utf-8";

async function serveMetrics({ options, parts, request }: Call): Promise<ApiResponse> {
  const text = (body: string) => bytesResponse(200, metricsType, body);
  switch (parts.join("/")) {
    case "": {
      const snapshot = await options.stats.take({ withDisk: true }, request.signal).catch(() => undefined);
      return text(kubeletMetrics(options.nodeName, workers(options), snapshot?.pods ?? []));
    }
    case "resource": {
      const snapshot: StatsSnapshot | undefined = await options.stats.take({ withDisk: false }, request.signal).catch(() => undefined);
      return text(resourceMetrics(snapshot));
    }
    case "cadvisor":
      return text(cadvisorMetrics(await options.stats.take({ withDisk: false }, request.signal), options.machine));
    case "probes":
      return text("");
    default:
      return notFound();
  }
}

/** As little as the runtime itself knows. */
function runningPod({ metadata, spec }: DeepReadonly<Pod>, names: readonly string[]): Pod {
  const { name = "", namespace = "", uid = "" } = metadata;
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].filter((container) => names.includes(container.name));
  return {
    metadata: { name, namespace, uid },
    spec: { containers: containers.map((container) => ({ name: container.name, image: container.image ?? "", resources: {} })) },
    status: {},
  };
}

async function serveCheckpoint({ options, request, parts }: Call): Promise<ApiResponse> {
  if (request.method !== "POST") return plain(405, "405: Method Not Allowed");
  const [namespace = "", podName = "", containerName = ""] = parts;
  if (parts.length !== 3 || containerName === "") return plain(404, "404: Page Not Found");
  const worker = options.findPod(namespace, podName);
  if (worker === undefined) return plain(404, "pod does not exist");
  const container = worker.runtime.containers.find((candidate) => candidate.name === containerName && isRunning(candidate));
  if (container === undefined) return plain(404, `container ${containerName} does not exist`);
  try {
    return json({ items: [await options.checkpoint(worker.pod, container, request.signal)] });
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    return plain(500, `checkpointing of ${namespace}/${podName}/${containerName} failed (${error.rpcMessage})`);
  }
}
