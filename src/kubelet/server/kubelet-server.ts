/**
 * The kubelet's HTTPS server as a request handler: logs, exec, attach, port-forward, and what `node-routes` tells. One handler may answer for many nodes.
 * Texts and oddities are those of upstream's server, since the API server passes them on to clients.
 */
import { bytesResponse } from "../../apimachinery/request.ts";
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";
import type { PodWorker } from "../pod-sync/pod-worker.ts";
import { hasExited, isRunning, latestOf } from "../pod-sync/pod-runtime.ts";
import type { RuntimeContainer } from "../pod-sync/pod-runtime.ts";
import { containersOf } from "../pod-sync/runtime-names.ts";
import { RuntimeError } from "../runtime/cri.ts";
import type { ServerAccess } from "./access.ts";
import { readLogOptions } from "./logs/log-options.ts";
import { readLog } from "./logs/log-reader.ts";
import { nodeRoutes } from "./node-routes.ts";
import { servePortForward } from "./streams/port-forward.ts";
import { readCommandStreams, serveRemoteCommand } from "./streams/remote-command.ts";
import { notFound, plain } from "./server-call.ts";
import type { Call, ServedNode } from "./server-call.ts";

/** A handler for the nodes given: usually one; what is asked of a pod goes to the node that has it, all else to the first. */
export function kubeletServer({ nodes, access }: KubeletServerOptions): (request: ApiRequest) => Promise<ApiResponse> {
  return async (request) => {
    const verdict = await access.check(request);
    if (verdict.outcome === "refused") return plain(verdict.code, verdict.text);
    const [, root = "", ...parts] = request.path.split("/").map(decodeURIComponent);
    const route = routes[root];
    if (route === undefined) return notFound();
    const [namespace = "", podName = ""] = parts;
    const all = nodes();
    const options = (isOfPod.has(root) ? all.find((node) => node.findPod(namespace, podName) !== undefined) : undefined) ?? all[0];
    if (options === undefined) return plain(503, "the node is not there yet");
    return route({
      options,
      request,
      parts: parts.at(-1) === "" && !isOfPod.has(root) ? parts.slice(0, -1) : parts,
      query: new URLSearchParams(request.query),
    });
  };
}

export interface KubeletServerOptions {
  readonly access: ServerAccess;
  nodes(): readonly ServedNode[];
}

const routes: Readonly<Record<string, (call: Call) => Promise<ApiResponse>>> = {
  ...nodeRoutes,
  containerLogs: serveLogs,
  exec: (call) => withContainer(call, serveExec),
  attach: (call) => withContainer(call, serveAttach),
  run: (call) => withContainer(call, serveRun),
  portForward: serveForward,
};

const isOfPod = new Set(["containerLogs", "exec", "attach", "run", "portForward", "checkpoint"]);

async function serveLogs({ options, request, parts, query }: Call): Promise<ApiResponse> {
  const [namespace = "", podName = "", containerName = ""] = parts;
  if (parts.length !== 3 || containerName === "") return plain(404, "404: Page Not Found");
  const logOptions = readLogOptions(query, options.clock.nowMs());
  if (logOptions === undefined) return bytesResponse(400, "text/plain; charset=utf-8", '{"message": "Unable to decode query."}');
  const worker = options.findPod(namespace, podName);
  if (worker === undefined) return plain(404, `pod ${JSON.stringify(podName)} does not exist`);
  const isKnown = containersOf(worker.pod).some(({ container }) => container.name === containerName);
  if (!isKnown) return plain(404, `container ${JSON.stringify(containerName)} not found in pod ${JSON.stringify(podName)}`);
  const found = findLog(worker, containerName, logOptions.isPrevious);
  if (typeof found === "string") return plain(400, found);
  const source = {
    path: found.status.log_path,
    isOpen: () => worker.runtime.containers.some((container) => container.id === found.id && isRunning(container)),
    onChange: (listener: () => void) => worker.subscribe(listener),
  };
  return { status: 200, headers: { "content-type": "text/plain" }, body: { kind: "stream", chunks: readLog(source, logOptions, request.signal) } };
}

/** The instance whose log is meant, or why there is none. */
function findLog(worker: PodWorker, name: string, isPrevious: boolean): RuntimeContainer | string {
  const podName = worker.pod.metadata.name;
  const [current, previous] = worker.runtime.containers.filter((container) => container.name === name && (isRunning(container) || hasExited(container)));
  if (isPrevious) {
    // Of a container that waits to run again, the last run is the one before.
    const chosen = current !== undefined && hasExited(current) && worker.waitingReason(name) !== undefined ? current : previous;
    return chosen ?? `previous terminated container ${JSON.stringify(name)} in pod ${JSON.stringify(podName)} not found`;
  }
  if (current !== undefined) return current;
  const statuses = [
    ...(worker.pod.status?.containerStatuses ?? []),
    ...(worker.pod.status?.initContainerStatuses ?? []),
    ...(worker.pod.status?.ephemeralContainerStatuses ?? []),
  ];
  const reason = worker.waitingReason(name)?.reason ?? statuses.find((status) => status.name === name)?.state?.waiting?.reason;
  if (reason === undefined) return `container ${JSON.stringify(name)} in pod ${JSON.stringify(podName)} is not available`;
  return `container ${JSON.stringify(name)} in pod ${JSON.stringify(podName)} is waiting to start: ${reason}`;
}

interface ContainerCall extends Call {
  readonly worker: PodWorker;
  readonly containerName: string;
  /** Only a running one. */
  readonly container: RuntimeContainer | undefined;
}

async function withContainer(call: Call, serve: (call: ContainerCall) => Promise<ApiResponse> | ApiResponse): Promise<ApiResponse> {
  const { options, parts } = call;
  // NAMESPACE/POD/CONTAINER, or with the pod's uid before the container.
  if (parts.length < 3 || parts.length > 4 || parts.includes("")) return plain(404, "404: Page Not Found");
  const [namespace = "", podName = ""] = parts;
  const containerName = parts.at(-1)!;
  const worker = options.findPod(namespace, podName);
  if (worker === undefined) return plain(404, "pod does not exist");
  const current = latestOf(worker.runtime, containerName);
  return serve({ ...call, worker, containerName, container: current !== undefined && isRunning(current) ? current : undefined });
}

function serveExec({ options, request, query, containerName, container }: ContainerCall): ApiResponse {
  const streams = readCommandStreams(query);
  if (streams === undefined) return plain(400, "you must specify at least 1 of stdin, stdout, stderr");
  if (container === undefined) return plain(500, `container not found (${JSON.stringify(containerName)})`);
  const cmd = query.getAll("command");
  return serveRemoteCommand(request, streams, () => options.runtime.openExec({ container_id: container.id, cmd, ...streams }));
}

function serveAttach({ options, request, query, worker, containerName, container }: ContainerCall): ApiResponse {
  const streams = readCommandStreams(query);
  if (streams === undefined) return plain(400, "you must specify at least 1 of stdin, stdout, stderr");
  const { name, namespace } = worker.pod.metadata;
  if (container === undefined) return plain(500, `container ${containerName} not found in pod ${name}_${namespace}`);
  const spec = containersOf(worker.pod).find((candidate) => candidate.container.name === containerName)?.container;
  const own = { ...streams, tty: spec?.tty === true, stdin: streams.stdin && spec?.stdin === true };
  return serveRemoteCommand(request, streams, () => options.runtime.openAttach({ container_id: container.id, ...own }));
}

async function serveRun({ options, request, query, containerName, container }: ContainerCall): Promise<ApiResponse> {
  if (request.method !== "POST") return plain(405, "405: Method Not Allowed");
  if (container === undefined) return plain(500, `container not found (${JSON.stringify(containerName)})`);
  const command = query.get("cmd") ?? "";
  try {
    const result = await options.runtime.execSync({ container_id: container.id, cmd: command.split(" "), timeoutSeconds: 0 }, request.signal);
    const output = Buffer.concat([result.stdout, result.stderr]);
    return result.exit_code === 0
      ? bytesResponse(200, "application/json", output)
      : plain(500, `command '${command}' exited with ${result.exit_code}: ${output.toString("utf8")}`);
  } catch (error) {
    if (error instanceof RuntimeError) return plain(500, error.rpcMessage);
    throw error;
  }
}

async function serveForward({ options, request, parts, query }: Call): Promise<ApiResponse> {
  if (parts.length < 2 || parts.length > 3 || parts.includes("")) return plain(404, "404: Page Not Found");
  const [namespace = "", podName = ""] = parts;
  const worker = options.findPod(namespace, podName);
  if (worker === undefined) return plain(404, "pod does not exist");
  const [sandbox] = worker.runtime.sandboxes;
  if (sandbox?.state !== "SANDBOX_READY") return plain(500, `pod not found (${JSON.stringify(`${podName}_${namespace}`)})`);
  return servePortForward({ request, query, sandboxId: sandbox.id, runtime: options.runtime, clock: options.clock });
}
