/** Starts one container: image, configuration, creation, start, postStart hook; with the events and reasons Kubernetes gives each step. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ContainerStateWaiting, Pod, Secret } from "../../api/core-v1/types.ts";
import { containerEnvironment } from "../env/container-environment.ts";
import { expand } from "../env/expand.ts";
import type { PodFacts } from "../env/field-values.ts";
import { runHook } from "../hooks/lifecycle-hooks.ts";
import { parseImageName } from "../images/image-name.ts";
import type { EnsureResult } from "../images/image-puller.ts";
import { pullCredentials } from "../images/pull-secrets.ts";
import { hostNames, hostNetworkHostsFile, hostsFile } from "../network/host-names.ts";
import { runAsNonRootFault } from "../resources/security-context.ts";
import { RuntimeError } from "../runtime/cri.ts";
import type { Image, Mount, PodSandboxConfig } from "../runtime/cri-messages.ts";
import type { PodObjects } from "../volumes/object-source.ts";
import { isPayloadVolume } from "../volumes/payload.ts";
import { containerConfig, volumeMount } from "./container-config.ts";
import type { NodeContext } from "./node-context.ts";
import type { SpecContainer } from "./runtime-names.ts";

export async function startContainer(request: StartRequest, signal: AbortSignal): Promise<StartResult> {
  const { node } = request;
  const { runtime } = node;
  const ensured = await ensureImage(request, signal);
  if (ensured.outcome === "failed") {
    request.tell("Warning", "Failed", `Error: ${ensured.reason}`);
    return { outcome: "failed", waiting: { reason: ensured.reason, message: ensured.message }, retryAtMs: ensured.retryAtMs ?? retryAtMs(node) };
  }
  const fail = (reason: string, message: string): StartResult => {
    request.tell("Warning", "Failed", `Error: ${message}`);
    return { outcome: "failed", waiting: { reason, message }, retryAtMs: retryAtMs(node) };
  };
  let config;
  try {
    config = await makeConfig(request, ensured.image);
  } catch (error) {
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

export function podFacts(node: NodeContext, podIPs: readonly string[]): PodFacts {
  return { podIPs, nodeAddress: node.nodeAddress, allocatable: node.allocatable };
}

/** What failed is tried again after about this time. */
const retryMs = 10_000;
const retryAtMs = (node: NodeContext) => node.clock.nowMs() + retryMs;

function ensureImage({ node, pod, spec, sandboxConfig, objects, tell }: StartRequest, signal: AbortSignal): Promise<EnsureResult> {
  const parsed = parseImageName(spec.container.image ?? "");
  const secrets = (pod.spec?.imagePullSecrets ?? []).map(({ name }) => objects.secret(name ?? "")).filter((secret): secret is DeepReadonly<Secret> => secret !== undefined);
  const credentials = parsed.isValid ? pullCredentials(secrets, parsed.repository) : [];
  return node.images.ensure({ pod, container: spec.container, hasCommand: (spec.container.command ?? []).length > 0, sandboxConfig, credentials, tell }, signal);
}

async function makeConfig(request: StartRequest, image: Image) {
  const { node, pod, spec, attempt, objects, podIPs } = request;
  const fault = runAsNonRootFault(pod, spec.container, { ...(image.uid !== undefined && { uid: image.uid.value }), username: image.username });
  if (fault !== undefined) throw new Error(fault);
  const environment = containerEnvironment(pod, spec.container, {
    facts: podFacts(node, podIPs),
    services: node.services(),
    configMap: (name) => objects.configMap(name),
    secret: (name) => objects.secret(name),
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
    mounts: await makeMounts(request, environment),
    memoryCapacityBytes: node.memoryCapacityBytes,
    ...(request.targetId !== undefined && { targetId: request.targetId }),
  });
}

async function makeMounts({ node, pod, spec, attempt, podIPs }: StartRequest, environment: ReadonlyMap<string, string>): Promise<Mount[]> {
  const { container } = spec;
  const uid = pod.metadata.uid ?? "";
  const mounts: Mount[] = [];
  for (const mount of container.volumeMounts ?? []) {
    const subPath = mount.subPathExpr === undefined || mount.subPathExpr === "" ? (mount.subPath ?? "") : expandSubPath(mount.subPathExpr, environment);
    const volume = pod.spec?.volumes?.find(({ name }) => name === mount.name);
    // What comes from the API cannot be written, whatever the mount says.
    const isReadOnly = mount.readOnly === true || (volume !== undefined && isPayloadVolume(volume));
    mounts.push(volumeMount({ ...mount, readOnly: isReadOnly }, await node.storage.path(pod, mount.name, subPath)));
  }
  const hasOwnHosts = mounts.some(({ container_path }) => container_path === "/etc/hosts");
  if (!hasOwnHosts && podIPs.length > 0) {
    const text = pod.spec?.hostNetwork === true ? hostNetworkHostsFile(pod, await node.storage.readEnd("/etc/hosts", maxHostsBytes)) : hostsFile(pod, podIPs, hostNames(pod, node.dns.clusterDomain));
    const path = await node.storage.writeFile(uid, "etc-hosts", text, 0o644);
    if (path !== undefined) mounts.push({ container_path: "/etc/hosts", host_path: path, readonly: container.securityContext?.readOnlyRootFilesystem === true });
  }
  const messagePath = container.terminationMessagePath ?? "/dev/termination-log";
  const path = await node.storage.writeFile(uid, `containers/${container.name}/${attempt}-termination-log`, "", 0o666);
  if (path !== undefined && messagePath !== "") mounts.push({ container_path: messagePath, host_path: path, readonly: false });
  return mounts;
}

const maxHostsBytes = 1 << 20;

/** All names in a sub path must be known. */
function expandSubPath(expression: string, environment: ReadonlyMap<string, string>): string {
  const path = expand(expression, environment);
  if (/\$\([^)]*\)/.test(path)) throw new Error(`missing value for ${JSON.stringify(/\$\(([^)]*)\)/.exec(path)![1])}`);
  return path;
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
