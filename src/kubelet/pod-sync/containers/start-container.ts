/** Starts one container: image, configuration, creation, start, postStart hook; with the events and reasons Kubernetes gives each step. */
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { ContainerStateWaiting, Pod } from "../../../api/core-v1/types.ts";
import { containerEnvironment } from "../../env/container-environment.ts";
import type { PodFacts } from "../../env/field-values.ts";
import { runHook } from "../../hooks/lifecycle-hooks.ts";
import { parseImageName } from "../../images/image-name.ts";
import type { EnsureResult } from "../../images/image-puller.ts";
import { runAsNonRootFault } from "../../resources/security-context.ts";
import { RuntimeError } from "../../runtime/cri.ts";
import type { Image, PodSandboxConfig } from "../../runtime/cri-messages.ts";
import type { PodObjects } from "../../volumes/object-source.ts";
import { containerConfig } from "./container-config.ts";
import { containerMounts } from "./container-mounts.ts";
import { readEnvFiles } from "./env-files.ts";
import { ensureImageVolumes, imageCredentials } from "./image-volumes.ts";
import type { NodeContext } from "../node-context.ts";
import type { SpecContainer } from "../runtime-names.ts";

export async function startContainer(request: StartRequest, signal: AbortSignal): Promise<StartResult> {
  const { node } = request;
  const { runtime } = node;
  const ensured = await ensureImage(request, signal);
  if (ensured.outcome === "failed") return notPulled(request, ensured);
  const fail = (reason: string, message: string): StartResult => {
    request.tell("Warning", "Failed", `Error: ${message}`);
    return { outcome: "failed", waiting: { reason, message }, retryAtMs: retryAtMs(node) };
  };
  let config;
  try {
    const missing = await ensureImageVolumes(request, signal);
    if (missing !== undefined) return notPulled(request, missing);
    await node.managers.devices.preStart(request.pod.metadata.uid ?? "", request.spec.container.name, signal);
    config = await makeConfig(request, ensured.image);
  } catch (error) {
    signal.throwIfAborted();
    return fail("CreateContainerConfigError", messageOf(error));
  }
  let containerId: string;
  try {
    containerId = await runtime.createContainer({ pod_sandbox_id: request.sandboxId, config, sandbox_config: request.sandboxConfig }, signal);
  } catch (error) {
    signal.throwIfAborted();
    return fail("CreateContainerError", messageOf(error));
  }
  request.tell("Normal", "Created", "Container created");
  try {
    await runtime.startContainer(containerId, signal);
  } catch (error) {
    signal.throwIfAborted();
    return fail("RunContainerError", messageOf(error));
  }
  request.tell("Normal", "Started", "Container started");
  return (await runPostStart(request, containerId, signal)) ? { outcome: "started", containerId } : { outcome: "hookFailed", containerId };
}

export interface StartRequest {
  readonly node: NodeContext;
  readonly pod: DeepReadonly<Pod>;
  readonly spec: SpecContainer;
  readonly attempt: number;
  readonly sandboxId: string;
  readonly sandboxConfig: PodSandboxConfig;
  readonly podIPs: readonly string[];
  readonly objects: PodObjects;
  /** Of an ephemeral container: whose processes it sees. */
  readonly targetId?: string;
  /** An event about this container. */
  tell(type: "Normal" | "Warning", reason: string, message: string): void;
}

export type StartResult =
  | { readonly outcome: "started"; readonly containerId: string }
  /** It runs, but is to be killed. */
  | { readonly outcome: "hookFailed"; readonly containerId: string }
  | { readonly outcome: "failed"; readonly waiting: ContainerStateWaiting; readonly retryAtMs: number };

function notPulled(request: StartRequest, { reason, message, retryAtMs: dueMs }: Extract<EnsureResult, { outcome: "failed" }>): StartResult {
  request.tell("Warning", "Failed", `Error: ${reason}`);
  return { outcome: "failed", waiting: { reason, message }, retryAtMs: dueMs ?? retryAtMs(request.node) };
}

export function podFacts(node: NodeContext, podIPs: readonly string[]): PodFacts {
  return { podIPs, nodeAddress: node.nodeAddress, allocatable: node.allocatable };
}

/** What failed is tried again after about this time. */
const retryMs = 10_000;
const retryAtMs = (node: NodeContext) => node.clock.nowMs() + retryMs;

function ensureImage(request: StartRequest, signal: AbortSignal): Promise<EnsureResult> {
  const { node, pod, spec, sandboxConfig, tell } = request;
  const credentials = imageCredentials(request, spec.container.image ?? "");
  return node.images.ensure(
    { pod, container: spec.container, hasCommand: (spec.container.command ?? []).length > 0, sandboxConfig, credentials, tell },
    signal,
  );
}

async function makeConfig(request: StartRequest, image: Image) {
  const { node, pod, spec, attempt, objects, podIPs } = request;
  const fault = runAsNonRootFault(pod, spec.container, { ...(image.uid !== undefined && { uid: image.uid.value }), username: image.username });
  if (fault !== undefined) throw new Error(fault);
  const environment = containerEnvironment(pod, spec.container, {
    facts: podFacts(node, podIPs),
    services: node.services(),
    ...(node.servicePlace !== undefined && { servicePlace: node.servicePlace }),
    configMap: (name) => objects.configMap(name),
    secret: (name) => objects.secret(name),
    envFile: await readEnvFiles(request),
  });
  const parsed = parseImageName(spec.container.image ?? "");
  // containerd finds images by their id; the others know them by name.
  const imageReference = node.runtimeName === "containerd" ? image.id : parsed.isValid ? parsed.fullName : image.id;
  return containerConfig({
    pod,
    spec,
    attempt,
    image,
    imageReference,
    environment,
    ...(await containerMounts(request, environment)),
    additions: node.managers.additions(pod, spec.container.name),
    memoryCapacityBytes: node.memoryCapacityBytes,
    ...(request.targetId !== undefined && { targetId: request.targetId }),
  });
}

async function runPostStart({ node, spec, podIPs, tell }: StartRequest, containerId: string, signal: AbortSignal): Promise<boolean> {
  const hook = spec.container.lifecycle?.postStart;
  if (hook === undefined) return true;
  try {
    await runHook(hook, { container: spec.container, containerId, podIP: podIPs[0] ?? "" }, node, signal);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    node.log.info("A postStart hook failed", { container: spec.container.name, error });
    tell("Warning", "FailedPostStartHook", "PostStartHook failed");
    return false;
  }
}

function messageOf(error: unknown): string {
  if (error instanceof RuntimeError) return error.message;
  return error instanceof Error ? error.message : String(error);
}
