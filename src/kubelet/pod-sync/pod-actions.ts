/**
 * What a pod's worker does when it acts: makes the sandbox, starts, kills and removes containers, stops everything. Each action reads the
 * pod and what runs at its beginning, tells events, and remembers in `starts` what failed; the worker looks again when it ends.
 */
import { join } from "node:path";
import { quantityValue } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { isAbort } from "../../base/task-group.ts";
import { resources } from "../../client/index.ts";
import { linuxResources } from "../resources/linux-resources.ts";
import { RuntimeError } from "../runtime/cri.ts";
import type { PodObjects } from "../volumes/object-source.ts";
import type { ContainerStarts } from "./containers/container-starts.ts";
import type { NodeContext } from "./node-context.ts";
import type { PodResize } from "./pod-resize.ts";
import type { ContainerStep } from "./plan.ts";
import { hasExited, isRunning, readySandbox } from "./pod-runtime.ts";
import type { PodRuntime, RuntimeContainer } from "./pod-runtime.ts";
import { podLabel, resizableText } from "./runtime-names.ts";
import type { SpecContainer } from "./runtime-names.ts";
import { logDirectory, sandboxConfig } from "./sandbox-config.ts";
import { attemptAfterLogs } from "./containers/container-config.ts";
import { startContainer } from "./containers/start-container.ts";
import { stopAll, stopContainer } from "./containers/stop-containers.ts";

export class PodActions {
  readonly #options: PodActionsOptions;
  readonly #killing = new Set<string>();

  constructor(options: PodActionsOptions) {
    this.#options = options;
  }

  /** Whether a container is being killed: its probes no longer count. */
  isKilling(containerId: string): boolean {
    return this.#killing.has(containerId);
  }

  async makeSandbox(attempt: number, isChanged: boolean, signal: AbortSignal): Promise<void> {
    const { node, starts, tell } = this.#options;
    const { pod, runtime } = this.#options.now();
    if (isChanged) {
      tell(undefined, "Normal", "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.");
      for (const { id } of runtime.sandboxes) await node.runtime.stopPodSandbox(id, signal);
    }
    try {
      await node.cgroups?.ensure(pod);
      const runtime_handler = await runtimeHandler(pod, node, signal);
      await node.runtime.runPodSandbox({ config: sandboxConfig(pod, attempt, node), ...(runtime_handler !== "" && { runtime_handler }) }, signal);
      starts.release("");
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      const text = error instanceof RuntimeError ? error.rpcMessage : (error as Error).message;
      tell(undefined, "Warning", "FailedCreatePodSandBox", `Failed to create pod sandbox: ${text}`);
      starts.hold("", node.clock.nowMs() + sandboxRetryMs);
    }
  }

  async carryOut(sandboxId: string, steps: readonly ContainerStep[], signal: AbortSignal): Promise<void> {
    for (const step of steps) {
      if (step.kind === "remove") await this.#options.node.runtime.removeContainer(step.container.id, signal);
      else if (step.kind === "kill") await this.#kill(step, signal);
      else if (step.kind === "resize") await this.#resize(step, signal);
      else await this.#start(sandboxId, step, signal);
    }
  }

  async remove(containers: readonly RuntimeContainer[], signal: AbortSignal): Promise<void> {
    for (const { id } of containers) await this.#options.node.runtime.removeContainer(id, signal);
  }

  /** Stops what runs, then the sandbox. */
  async stop(graceSeconds: number, signal: AbortSignal): Promise<void> {
    const { node, tell } = this.#options;
    const { pod, runtime } = this.#options.now();
    await stopAll({ node, pod, runtime, podIP: podAddresses(node, pod, runtime)[0] ?? "", graceSeconds, tell }, signal);
    for (const { id, state } of runtime.sandboxes) if (state === "SANDBOX_READY") await node.runtime.stopPodSandbox(id, signal);
  }

  async #kill(step: ContainerStep & { kind: "kill" }, signal: AbortSignal): Promise<void> {
    const { node } = this.#options;
    const { pod, runtime } = this.#options.now();
    const { spec, container } = step;
    const probe = step.cause === "liveness" ? spec.container.livenessProbe : step.cause === "startup" ? spec.container.startupProbe : undefined;
    const graceSeconds = Math.max(1, probe?.terminationGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 30);
    this.#killing.add(container.id);
    const tell = (type: "Normal" | "Warning", reason: string, message: string) => this.#options.tell(spec, type, reason, message);
    await stopContainer({ node, container, spec, podIP: podAddresses(node, pod, runtime)[0] ?? "", graceSeconds, message: step.message, tell }, signal);
  }

  async #resize({ spec, container }: ContainerStep & { kind: "resize" }, signal: AbortSignal): Promise<void> {
    const { node, resize } = this.#options;
    const { pod, runtime } = this.#options.now();
    try {
      await refuseBelowUsage(node, spec, container, signal);
      await node.cgroups?.loosen(pod);
      await node.runtime.updateContainerResources(container.id, linuxResources(pod, spec, node.memoryCapacityBytes), signal);
      // As long as another container is larger than it is to be, the kernel refuses; its own resize comes.
      await node.cgroups?.ensure(pod).catch((error: unknown) => node.log.info("A pod's control group waits for its containers", { pod: podLabel(pod), error }));
      resize.actuated(container, resizableText(spec.container), runtime);
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      resize.failed(error instanceof RuntimeError ? error.rpcMessage : (error as Error).message, pod);
    }
  }

  #logsOf(containerName: string): string {
    const { node, now } = this.#options;
    return join(logDirectory(now().pod, node.logRoot), containerName);
  }

  async #start(sandboxId: string, step: ContainerStep & { kind: "start" }, signal: AbortSignal): Promise<void> {
    const { node, objects, starts } = this.#options;
    const { spec, after } = step;
    const { name } = spec.container;
    const attempt = step.attempt > 0 ? step.attempt : attemptAfterLogs(await node.storage.logNames(this.#logsOf(name)));
    const { pod, runtime } = this.#options.now();
    const target = "targetContainerName" in spec.container ? spec.container.targetContainerName : undefined;
    const targetId = runtime.containers.find((container) => container.name === target && isRunning(container))?.id;
    const result = await startContainer(
      {
        node,
        pod,
        spec,
        attempt,
        sandboxId,
        sandboxConfig: sandboxConfig(pod, readySandbox(runtime)?.metadata.attempt ?? 0, node),
        podIPs: podAddresses(node, pod, runtime),
        objects,
        ...(targetId !== undefined && { targetId }),
        tell: (type, reason, message) => this.#options.tell(spec, type, reason, message),
      },
      signal,
    );
    if (result.outcome === "failed") {
      starts.fail(name, result.waiting, result.retryAtMs);
      this.#options.wake();
      return;
    }
    starts.started(name, after === undefined ? undefined : after.status.finished_at / 1e6);
    if (result.outcome === "started") return;
    this.#killing.add(result.containerId);
    this.#options.tell(spec, "Normal", "Killing", "FailedPostStartHook");
    await node.runtime.stopContainer(result.containerId, Math.max(1, pod.spec?.terminationGracePeriodSeconds ?? 30), signal);
  }
}

export interface PodActionsOptions {
  readonly node: NodeContext;
  readonly objects: PodObjects;
  readonly starts: ContainerStarts;
  readonly resize: PodResize;
  /** The pod and what runs, as they are known now. */
  now(): { readonly pod: DeepReadonly<Pod>; readonly runtime: PodRuntime };
  /** An event about the pod, or about one of its containers. */
  tell(spec: SpecContainer | undefined, type: "Normal" | "Warning", reason: string, message: string): void;
  /** Something is to be shown before the action ends. */
  wake(): void;
}

/** The runtime's own name for the pod's RuntimeClass; "" for none. Rejects when there is no such class. */
async function runtimeHandler({ spec }: DeepReadonly<Pod>, { client }: NodeContext, signal: AbortSignal): Promise<string> {
  const name = spec?.runtimeClassName ?? "";
  return name === "" ? "" : (await client.get(resources.runtimeClasses, "", name, { signal })).handler;
}

/** A limit below what the program holds would kill it. */
async function refuseBelowUsage(
  node: NodeContext,
  { container: { name, resources } }: SpecContainer,
  { id, status }: RuntimeContainer,
  signal: AbortSignal,
): Promise<void> {
  const limit = resources?.limits?.["memory"];
  const before = status.resources?.linux?.memory_limit_in_bytes ?? 0;
  if (limit === undefined || (before > 0 && quantityValue(limit) >= before)) return;
  const used = (await node.runtime.containerStats(id, signal)).memory?.usage_bytes?.value ?? 0;
  if (used > quantityValue(limit))
    throw new Error(`attempting to set container ${JSON.stringify(name)} memory limit (${quantityValue(limit)}) below current usage (${used})`);
}

const sandboxRetryMs = 10_000;

/** Of each container the last two instances are kept: the current one, and the one whose log is the previous. */
export function instancesTooMany(runtime: PodRuntime): RuntimeContainer[] {
  const counts = new Map<string, number>();
  return runtime.containers.filter((container) => {
    const count = (counts.get(container.name) ?? 0) + 1;
    counts.set(container.name, count);
    return count > 2 && hasExited(container);
  });
}

/** The addresses a pod can be reached at; the node's, on the node's network. */
export function podAddresses({ nodeAddress }: Pick<NodeContext, "nodeAddress">, pod: DeepReadonly<Pod>, runtime: PodRuntime): string[] {
  if (pod.spec?.hostNetwork === true) return [nodeAddress];
  const network = readySandbox(runtime)?.network;
  return network === undefined ? [] : [network.ip, ...network.additional_ips.map(({ ip }) => ip)];
}
