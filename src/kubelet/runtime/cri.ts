/**
 * The one runtime interface: CRI v1 as the kubelet uses it, implemented by `containerd`, `process` and `simulated`.
 * Messages are in `cri-messages.ts`, with CRI's own field names. Calls take the request and an optional signal; they return what the
 * response carries, unwrapped. Every failure is a `RuntimeError`. Stopping or removing what is gone is no error, as CRI demands.
 */
import type {
  AuthConfig,
  Container,
  ContainerConfig,
  ContainerFilter,
  ContainerStats,
  ContainerStatsFilter,
  ContainerStatus,
  ExecSyncResponse,
  FilesystemUsage,
  Image,
  ImageFilter,
  ImageSpec,
  LinuxContainerResources,
  PodSandbox,
  PodSandboxConfig,
  PodSandboxFilter,
  PodSandboxStats,
  PodSandboxStatsFilter,
  PodSandboxStatus,
  RuntimeStatus,
  VersionResponse,
} from "./cri-messages.ts";

export interface RuntimeService {
  /**
   * Whether pods have addresses that can be dialled. Where not (simulated), nothing may be sent: probes by network succeed at once and
   * hooks by network do nothing.
   */
  readonly hasNetwork: boolean;

  version(signal?: AbortSignal): Promise<VersionResponse>;
  status(signal?: AbortSignal): Promise<RuntimeStatus>;

  /** Creates and starts a sandbox; returns its id. */
  runPodSandbox(request: RunPodSandboxRequest, signal?: AbortSignal): Promise<string>;
  /** Kills what still runs in the sandbox and takes its network down. */
  stopPodSandbox(podSandboxId: string, signal?: AbortSignal): Promise<void>;
  /** Removes the sandbox and its containers, stopping them if need be. */
  removePodSandbox(podSandboxId: string, signal?: AbortSignal): Promise<void>;
  listPodSandbox(filter?: PodSandboxFilter, signal?: AbortSignal): Promise<readonly PodSandbox[]>;
  /** Rejects with reason `NotFound`. */
  podSandboxStatus(podSandboxId: string, signal?: AbortSignal): Promise<PodSandboxStatus>;

  /** Returns the container's id. */
  createContainer(request: CreateContainerRequest, signal?: AbortSignal): Promise<string>;
  /** A program that cannot be started rejects, and leaves the container EXITED with code 128 and reason `StartError`. */
  startContainer(containerId: string, signal?: AbortSignal): Promise<void>;
  /** Sends the stop signal, then SIGKILL after `timeoutSeconds` (0: at once); returns when the container has ended. */
  stopContainer(containerId: string, timeoutSeconds: number, signal?: AbortSignal): Promise<void>;
  removeContainer(containerId: string, signal?: AbortSignal): Promise<void>;
  listContainers(filter?: ContainerFilter, signal?: AbortSignal): Promise<readonly Container[]>;
  /** Rejects with reason `NotFound`. */
  containerStatus(containerId: string, signal?: AbortSignal): Promise<ContainerStatus>;
  updateContainerResources(containerId: string, resources: LinuxContainerResources, signal?: AbortSignal): Promise<void>;
  /** Writes the state of a running container to an archive; absent where the runtime has no such call. */
  checkpointContainer?(containerId: string, location: string, signal?: AbortSignal): Promise<void>;
  /** The log file was moved away: go on in a new one under the same path. */
  reopenContainerLog(containerId: string, signal?: AbortSignal): Promise<void>;

  /** Runs a command to its end. Rejects with `DeadlineExceeded` after `timeoutSeconds` (0: never). */
  execSync(request: ExecSyncRequest, signal?: AbortSignal): Promise<ExecSyncResponse>;
  openExec(request: ExecRequest, signal?: AbortSignal): Promise<StreamingSession>;
  openAttach(request: AttachRequest, signal?: AbortSignal): Promise<StreamingSession>;
  /** A connection to a port inside the sandbox. Rejects when the runtime refuses; a refused connection shows in `done`. */
  openPortForward(podSandboxId: string, port: number, signal?: AbortSignal): Promise<PortForwardSession>;

  containerStats(containerId: string, signal?: AbortSignal): Promise<ContainerStats>;
  listContainerStats(filter?: ContainerStatsFilter, signal?: AbortSignal): Promise<readonly ContainerStats[]>;
  podSandboxStats(podSandboxId: string, signal?: AbortSignal): Promise<PodSandboxStats>;
  listPodSandboxStats(filter?: PodSandboxStatsFilter, signal?: AbortSignal): Promise<readonly PodSandboxStats[]>;

  /**
   * What happens to containers and sandboxes, until `signal` aborts (the iteration then ends). The first event, and one after every
   * gap, is `RELIST`: it says that from here on nothing is missed, so list now. When an event arrives, the status already shows it.
   */
  events(signal: AbortSignal): AsyncIterable<ContainerEvent>;

  /** Lets go of the runtime; containers go on. */
  close(): Promise<void>;
}

export interface ImageService {
  listImages(filter?: ImageFilter, signal?: AbortSignal): Promise<readonly Image[]>;
  /** Undefined when the image is not present. */
  imageStatus(image: ImageSpec, signal?: AbortSignal): Promise<Image | undefined>;
  /** Returns the image's reference (its id). The error's `message` is the runtime's, `rpcMessage` what events show. */
  pullImage(request: PullImageRequest, signal?: AbortSignal): Promise<string>;
  removeImage(image: ImageSpec, signal?: AbortSignal): Promise<void>;
  imageFsInfo(signal?: AbortSignal): Promise<ImageFsInfo>;
}

/** Both services, as every implementation is made. */
export type ContainerRuntime = RuntimeService & ImageService;

export type RunPodSandboxRequest = { readonly config: PodSandboxConfig; readonly runtime_handler?: string };
export type CreateContainerRequest = { readonly pod_sandbox_id: string; readonly config: ContainerConfig; readonly sandbox_config: PodSandboxConfig };
export type ExecSyncRequest = { readonly container_id: string; readonly cmd: readonly string[]; readonly timeoutSeconds: number };
export type PullImageRequest = { readonly image: ImageSpec; readonly auth?: AuthConfig; readonly sandbox_config?: PodSandboxConfig };
export type ImageFsInfo = { readonly image_filesystems: readonly FilesystemUsage[]; readonly container_filesystems: readonly FilesystemUsage[] };
export type ExecRequest = {
  readonly container_id: string;
  readonly cmd: readonly string[];
  readonly tty: boolean;
  readonly stdin: boolean;
  readonly stdout: boolean;
  /** Not with `tty`. */
  readonly stderr: boolean;
};
export type AttachRequest = Omit<ExecRequest, "cmd">;

/**
 * Set to `"true"` in `ImageSpec.annotations` by the kubelet when the container has a `command` of its own: the runtime `process` then
 * takes an image it does not know for a mere name.
 */
export const imageHasCommandAnnotation = "coracle.local/has-command";

export interface ContainerEvent {
  readonly type: "CONTAINER_CREATED" | "CONTAINER_STARTED" | "CONTAINER_STOPPED" | "CONTAINER_DELETED" | "RELIST";
  /** The container's or the sandbox's own id (equal to `pod_sandbox_id` then); empty for `RELIST`. */
  readonly container_id: string;
  readonly pod_sandbox_id: string;
  /** `metadata.uid` of the sandbox; empty when it is no longer known. */
  readonly pod_uid: string;
}

/** An exec or attach in progress. Unread output holds the program back. */
export interface StreamingSession {
  /** Both end without bytes when not asked for. */
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** Resolves when the bytes are on their way; does nothing without stdin or after the end. */
  write(data: Uint8Array): Promise<void>;
  /** End of the program's input. */
  endInput(): void;
  /** The terminal's new size. Does nothing without a terminal. */
  resize(size: { readonly width: number; readonly height: number }): void;
  /** Resolves once; after all output has been delivered to the streams. Never rejects. */
  readonly done: Promise<StreamingResult>;
  /** Lets go: the program sees end of input but is not killed. */
  close(): void;
}

export type StreamingResult =
  | { readonly outcome: "success" }
  /** `message` is the runtime's: `command terminated with non-zero exit code: error executing command [false], exit code 1`. */
  | { readonly outcome: "exited"; readonly exitCode: number; readonly message: string }
  /** The command could not be started, or the connection to the runtime broke. */
  | { readonly outcome: "failed"; readonly message: string };

export interface PortForwardSession {
  readonly output: AsyncIterable<Uint8Array>;
  write(data: Uint8Array): Promise<void>;
  endInput(): void;
  /** Resolves when the pod's side is closed; with the error's text when there was one. */
  readonly done: Promise<{ readonly error?: string }>;
  close(): void;
}

/** gRPC's status codes by name. */
export type RuntimeErrorReason =
  | "Canceled"
  | "Unknown"
  | "InvalidArgument"
  | "DeadlineExceeded"
  | "NotFound"
  | "AlreadyExists"
  | "PermissionDenied"
  | "ResourceExhausted"
  | "FailedPrecondition"
  | "Aborted"
  | "OutOfRange"
  | "Unimplemented"
  | "Internal"
  | "Unavailable"
  | "DataLoss"
  | "Unauthenticated";

export class RuntimeError extends Error {
  override name = "RuntimeError";
  readonly reason: RuntimeErrorReason;

  constructor(reason: RuntimeErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }

  /** As Kubernetes' events and conditions show an error of the runtime. */
  get rpcMessage(): string {
    return `rpc error: code = ${this.reason} desc = ${this.message}`;
  }
}

export function isRuntimeNotFound(error: unknown): boolean {
  return error instanceof RuntimeError && error.reason === "NotFound";
}
