/**
 * The runtime `containerd` (or any other CRI v1 server on a unix socket that also serves containerd's event service).
 * CRI does the work; exits are heard from containerd's own events, since CRI events came only with 1.7.
 */
import type { MessageFacts } from "../../apimachinery/protobuf/messages.ts";
import type { Clock } from "../../base/clock.ts";
import type { ContainerRuntime, CreateContainerRequest, ExecRequest, ImageFsInfo, RuntimeError } from "./cri.ts";
import type {
  Container,
  ContainerStats,
  ContainerStatus,
  ExecSyncResponse,
  Image,
  PodSandbox,
  PodSandboxStats,
  PodSandboxStatus,
  RuntimeStatus,
  VersionResponse,
} from "./cri-messages.ts";
import { containerdEvents } from "./containerd/containerd-events.ts";
import criTables from "./data/cri-v1.json" with { type: "json" };
import { GrpcConnection } from "./containerd/grpc.ts";
import { openRemoteCommand, openRemotePort } from "./containerd/spdy-sessions.ts";

/** `timeoutMs`: how long a call may take, beside the time that its request gives; default two minutes. */
export function connectContainerd(options: { socketPath: string; clock: Clock; timeoutMs?: number }): ContainerRuntime {
  const { timeoutMs: requestMs = 120_000 } = options;
  const connection = new GrpcConnection(options);
  const tables = criTables as unknown as MessageFacts;
  const runtime = connection.service("runtime.v1.RuntimeService", tables);
  const images = connection.service("runtime.v1.ImageService", tables);

  const service: ContainerRuntime = {
    hasNetwork: true,
    version: async (signal) => (await runtime.call("Version", { version: "0.1.0" }, { signal })) as VersionResponse,
    status: async (signal) => {
      const { status, runtime_handlers, features } = await runtime.call("Status", {}, { signal });
      return { conditions: (status as RuntimeStatus).conditions, runtime_handlers, ...(features === undefined ? {} : { features }) } as RuntimeStatus;
    },

    runPodSandbox: async (request, signal) => (await runtime.call("RunPodSandbox", request, { signal, timeoutMs: 2 * requestMs }))["pod_sandbox_id"] as string,
    stopPodSandbox: (pod_sandbox_id, signal) => done(runtime.call("StopPodSandbox", { pod_sandbox_id }, { signal }).catch(ignoreNotFound)),
    removePodSandbox: (pod_sandbox_id, signal) => done(runtime.call("RemovePodSandbox", { pod_sandbox_id }, { signal })),
    listPodSandbox: async (filter, signal) => (await runtime.call("ListPodSandbox", { filter }, { signal }))["items"] as PodSandbox[],
    podSandboxStatus: async (pod_sandbox_id, signal) => (await runtime.call("PodSandboxStatus", { pod_sandbox_id }, { signal }))["status"] as PodSandboxStatus,

    createContainer: async (request, signal) => (await runtime.call("CreateContainer", withBytes(request), { signal }))["container_id"] as string,
    startContainer: (container_id, signal) => done(runtime.call("StartContainer", { container_id }, { signal })),
    stopContainer: (container_id, timeoutSeconds, signal) =>
      done(
        runtime
          .call("StopContainer", { container_id, timeout: timeoutSeconds }, { signal, timeoutMs: timeoutSeconds * 1000 + requestMs })
          .catch(ignoreNotFound),
      ),
    removeContainer: (container_id, signal) => done(runtime.call("RemoveContainer", { container_id }, { signal })),
    listContainers: async (filter, signal) => (await runtime.call("ListContainers", { filter }, { signal }))["containers"] as Container[],
    containerStatus: async (container_id, signal) => (await runtime.call("ContainerStatus", { container_id }, { signal }))["status"] as ContainerStatus,
    updateContainerResources: (container_id, linux, signal) => done(runtime.call("UpdateContainerResources", { container_id, linux }, { signal })),
    checkpointContainer: (container_id, location, signal) => done(runtime.call("CheckpointContainer", { container_id, location, timeout: 0 }, { signal })),
    reopenContainerLog: (container_id, signal) => done(runtime.call("ReopenContainerLog", { container_id }, { signal })),

    execSync: async ({ timeoutSeconds, ...request }, signal) => {
      const timeoutMs = timeoutSeconds === 0 ? 0 : timeoutSeconds * 1000 + requestMs;
      return (await runtime.call("ExecSync", { ...request, timeout: timeoutSeconds }, { signal, timeoutMs })) as ExecSyncResponse;
    },
    openExec: async (request, signal) => {
      const asked = withoutTerminalError(request);
      return openRemoteCommand((await runtime.call("Exec", asked, { signal }))["url"] as string, asked, signal);
    },
    openAttach: async (request, signal) => {
      const asked = withoutTerminalError(request);
      return openRemoteCommand((await runtime.call("Attach", asked, { signal }))["url"] as string, asked, signal);
    },
    openPortForward: async (pod_sandbox_id, port, signal) =>
      openRemotePort((await runtime.call("PortForward", { pod_sandbox_id, port: [port] }, { signal }))["url"] as string, port, signal),

    containerStats: async (container_id, signal) => (await runtime.call("ContainerStats", { container_id }, { signal }))["stats"] as ContainerStats,
    listContainerStats: async (filter, signal) => (await runtime.call("ListContainerStats", { filter }, { signal }))["stats"] as ContainerStats[],
    podSandboxStats: async (pod_sandbox_id, signal) => (await runtime.call("PodSandboxStats", { pod_sandbox_id }, { signal }))["stats"] as PodSandboxStats,
    listPodSandboxStats: async (filter, signal) => (await runtime.call("ListPodSandboxStats", { filter }, { signal }))["stats"] as PodSandboxStats[],

    events: (signal) => containerdEvents({ connection, clock: options.clock, runtime: service, signal }),

    listImages: async (filter, signal) => (await images.call("ListImages", { filter }, { signal }))["images"] as Image[],
    imageStatus: async (image, signal) => (await images.call("ImageStatus", { image }, { signal }))["image"] as Image | undefined,
    pullImage: async (request, signal) => (await images.call("PullImage", request, { signal, timeoutMs: 0 }))["image_ref"] as string,
    removeImage: (image, signal) => done(images.call("RemoveImage", { image }, { signal })),
    imageFsInfo: async (signal) => (await images.call("ImageFsInfo", {}, { signal })) as unknown as ImageFsInfo,

    close: async () => connection.close(),
  };
  return service;
}

/** Environment values are bytes on the wire. */
function withBytes(request: CreateContainerRequest): object {
  const envs = request.config.envs?.map(({ key, value }) => ({ key, value: typeof value === "string" ? Buffer.from(value) : value }));
  return envs === undefined ? request : { ...request, config: { ...request.config, envs } };
}

async function done(call: Promise<unknown>): Promise<void> {
  await call;
}

/** 1.6 says NotFound when it stops what is gone, which CRI calls a success. */
function ignoreNotFound(error: RuntimeError): void {
  if (error.reason !== "NotFound") throw error;
}

/** A terminal has one output; CRI refuses stderr beside it. */
function withoutTerminalError<T extends Omit<ExecRequest, "cmd">>(request: T): T {
  return request.tty ? { ...request, stderr: false } : request;
}
