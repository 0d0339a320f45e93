/** Stopping containers: preStop hook, stop signal, kill, within a grace period (documentation page "Pod Lifecycle", "Termination of Pods"). */
import { deadline } from "../../../base/clock.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Pod } from "../../../api/core-v1/types.ts";
import { runHook } from "../../hooks/lifecycle-hooks.ts";
import type { NodeContext } from "../node-context.ts";
import { isRunning } from "../pod-runtime.ts";
import type { PodRuntime, RuntimeContainer } from "../pod-runtime.ts";
import { containersOf, isSidecar } from "../runtime-names.ts";
import type { SpecContainer } from "../runtime-names.ts";

/** Stops one container; rejects when the runtime fails. */
export async function stopContainer(request: StopRequest, signal: AbortSignal): Promise<void> {
  const { node, container, graceSeconds, tell } = request;
  tell("Normal", "Killing", request.message ?? `Stopping container ${container.name}`);
  const startedMs = node.clock.monotonicMs();
  if (graceSeconds > 0) await runPreStop(request, signal);
  const spentSeconds = Math.ceil((node.clock.monotonicMs() - startedMs) / 1000 - 0.01);
  // However long the hook took, the program gets a moment.
  const leftSeconds =
    request.spec?.container.lifecycle?.preStop === undefined ? graceSeconds : Math.max(minGraceSeconds, graceSeconds - Math.max(0, spentSeconds));
  await node.runtime.stopContainer(container.id, leftSeconds, signal);
}

export interface StopRequest {
  readonly node: NodeContext;
  readonly container: RuntimeContainer;
  /** Undefined when the pod's object is not known. */
  readonly spec?: SpecContainer;
  readonly podIP: string;
  readonly graceSeconds: number;
  readonly message?: string;
  tell(type: "Normal" | "Warning", reason: string, message: string): void;
}

/** Stops all running containers of a pod: sidecars after the others, last first, in what is left of the grace period. */
export async function stopAll(request: StopAllRequest, signal: AbortSignal): Promise<void> {
  const { node, pod, runtime } = request;
  const specs = containersOf(pod);
  const specOf = ({ name }: RuntimeContainer) => specs.find((spec) => spec.container.name === name);
  const startedMs = node.clock.monotonicMs();
  const graceLeft = () => Math.max(request.graceSeconds === 0 ? 0 : 1, Math.ceil(request.graceSeconds - (node.clock.monotonicMs() - startedMs) / 1000));
  const stop = (container: RuntimeContainer) => {
    const spec = specOf(container);
    return stopContainer(
      {
        node,
        container,
        ...(spec !== undefined && { spec }),
        podIP: request.podIP,
        graceSeconds: graceLeft(),
        tell: (...event) => request.tell(spec, ...event),
      },
      signal,
    );
  };
  const running = runtime.containers.filter(isRunning);
  const isBeside = (container: RuntimeContainer) => {
    const spec = specOf(container);
    return spec !== undefined && isSidecar(spec);
  };
  await Promise.all(running.filter((container) => !isBeside(container)).map(stop));
  const order = specs.filter(isSidecar).map(({ container }) => container.name);
  const sidecars = running.filter(isBeside).toSorted((a, b) => order.indexOf(b.name) - order.indexOf(a.name));
  for (const sidecar of sidecars) await stop(sidecar);
}

export interface StopAllRequest {
  readonly node: NodeContext;
  readonly pod: DeepReadonly<Pod>;
  readonly runtime: PodRuntime;
  readonly podIP: string;
  readonly graceSeconds: number;
  tell(spec: SpecContainer | undefined, type: "Normal" | "Warning", reason: string, message: string): void;
}

const minGraceSeconds = 2;

async function runPreStop({ node, container, spec, podIP, graceSeconds, tell }: StopRequest, signal: AbortSignal): Promise<void> {
  const hook = spec?.container.lifecycle?.preStop;
  if (hook === undefined || spec === undefined) return;
  const limit = deadline(node.clock, graceSeconds * 1000, signal);
  try {
    await runHook(hook, { container: spec.container, containerId: container.id, podIP }, node, limit.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (limit.signal.aborted) return;
    node.log.info("A preStop hook failed", { container: container.name, error });
    tell("Warning", "FailedPreStopHook", "PreStopHook failed");
  } finally {
    limit.cancel();
  }
}
