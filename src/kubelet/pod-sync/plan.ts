/**
 * What is to be done for a pod now: pure, from its spec, what the runtime has, probes' verdicts and the time. The driver (`pod-worker`)
 * carries the plan out and asks again; nothing else decides about sandboxes and containers.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { restartDueMs } from "./containers/crash-backoff.ts";
import type { CrashBackoff } from "./containers/crash-backoff.ts";
import { planInitContainers } from "./containers/init-containers.ts";
import { hasExited, isRunning, latestOf, readySandbox } from "./pod-runtime.ts";
import type { PodRuntime, RuntimeContainer } from "./pod-runtime.ts";
import { shouldRestart } from "./containers/restart-rules.ts";
import { containerHash, ofKind, resizableText } from "./runtime-names.ts";
import type { SpecContainer } from "./runtime-names.ts";

export function planPod(input: PlanInput): PodPlan {
  const { pod, runtime } = input;
  const sandbox = readySandbox(runtime);
  if (sandbox === undefined) return planWithoutSandbox(input);
  const init = planInitContainers(input, sandbox.id);
  if (init.outcome === "failed") return { kind: "stop" };
  const steps: ContainerStep[] = [...init.steps];
  for (const spec of ofKind(pod, "ephemeralContainers")) {
    if (latestOf(runtime, spec.container.name, sandbox.id) === undefined) steps.push({ kind: "start", spec, attempt: 0, dueMs: input.nowMs });
  }
  if (init.outcome === "waiting") return { kind: "run", sandboxId: sandbox.id, steps };
  const regular = ofKind(pod, "containers").map((spec) => planContainer(input, spec, sandbox.id));
  // Neither running nor to be run: sidecars alone do not keep a pod.
  if (regular.every(({ isKept, step }) => !isKept && (step === undefined || (step.kind === "kill" && !step.isRestarted)))) return { kind: "stop" };
  for (const { step } of regular) if (step !== undefined) steps.push(step);
  return { kind: "run", sandboxId: sandbox.id, steps };
}

export interface PlanInput {
  readonly pod: DeepReadonly<Pod>;
  readonly runtime: PodRuntime;
  readonly nowMs: number;
  health(container: RuntimeContainer): ContainerHealth;
  backoff(containerName: string): CrashBackoff | undefined;
  /** Requests and limits a running container has now. */
  resources(container: RuntimeContainer): string;
}

/** What probes say of a running container. */
export interface ContainerHealth {
  readonly isStarted: boolean;
  readonly isReady: boolean;
  readonly failed?: "liveness" | "startup";
}

/**
 * - idle: nothing runs and nothing will
 * - sandbox: make one; what an older one holds is stopped first
 * - run: do the steps, in this order; an empty list is a pod at rest
 * - stop: the pod's work is over: stop what still runs, and the sandbox
 */
export type PodPlan =
  | { readonly kind: "idle" }
  | { readonly kind: "sandbox"; readonly attempt: number; readonly isChanged: boolean }
  | { readonly kind: "run"; readonly sandboxId: string; readonly steps: readonly ContainerStep[] }
  | { readonly kind: "stop" };

/**
 * - start: not before `dueMs`; `after` is the instance that ended, `attempt` the restart count of the new one
 * - kill: a running instance that must not go on
 * - resize: other requests or limits for a running instance
 * - remove: an instance that was made but never started
 */
export type ContainerStep =
  | { readonly kind: "start"; readonly spec: SpecContainer; readonly attempt: number; readonly dueMs: number; readonly after?: RuntimeContainer }
  | {
      readonly kind: "kill";
      readonly spec: SpecContainer;
      readonly container: RuntimeContainer;
      readonly message: string;
      readonly isRestarted: boolean;
      readonly cause: "liveness" | "startup" | "changed" | "resize";
    }
  | { readonly kind: "resize"; readonly spec: SpecContainer; readonly container: RuntimeContainer }
  | { readonly kind: "remove"; readonly container: RuntimeContainer };

/** One container in a ready sandbox: whether it is kept running, and what to do about it. */
export function planContainer(input: PlanInput, spec: SpecContainer, sandboxId: string): { isKept: boolean; step?: ContainerStep } {
  const { name } = spec.container;
  const current = latestOf(input.runtime, name, sandboxId);
  if (current === undefined) {
    const earlier = latestOf(input.runtime, name);
    return { isKept: false, step: { kind: "start", spec, attempt: earlier === undefined ? 0 : earlier.restartCount + 1, dueMs: input.nowMs } };
  }
  if (isRunning(current)) return planRunning(input, spec, current);
  if (!hasExited(current)) return { isKept: true, step: { kind: "remove", container: current } };
  if (!shouldRestart(input.pod, spec, current.status.exit_code)) return { isKept: false };
  return { isKept: false, step: restartStep(input, spec, current) };
}

/** Starts the next instance when its back-off is over. */
export function restartStep(input: PlanInput, spec: SpecContainer, ended: RuntimeContainer): ContainerStep {
  const finishedMs = ended.status.finished_at / 1e6;
  return { kind: "start", spec, attempt: ended.restartCount + 1, dueMs: restartDueMs(input.backoff(spec.container.name), finishedMs), after: ended };
}

function planRunning(input: PlanInput, spec: SpecContainer, container: RuntimeContainer): { isKept: boolean; step?: ContainerStep } {
  const { name } = spec.container;
  if (container.hash !== "" && container.hash !== containerHash(spec.container)) {
    return {
      isKept: true,
      step: { kind: "kill", spec, container, message: `Container ${name} definition changed, will be restarted`, isRestarted: true, cause: "changed" },
    };
  }
  const { failed } = input.health(container);
  if (failed === undefined) return planResize(input, spec, container);
  // The exit code is not known yet; a killed program seldom ends well.
  const isRestarted = shouldRestart(input.pod, spec, 137);
  const message = `Container ${name} failed ${failed} probe${isRestarted ? ", will be restarted" : ""}`;
  return { isKept: isRestarted, step: { kind: "kill", spec, container, message, isRestarted, cause: failed } };
}

/** Changed requests and limits are applied to what runs, unless its policy wants a restart for them. */
function planResize(input: PlanInput, spec: SpecContainer, container: RuntimeContainer): { isKept: boolean; step?: ContainerStep } {
  const [before, after] = [input.resources(container), resizableText(spec.container)];
  if (before === "" || before === after) return { isKept: true };
  const { name, resizePolicy = [] } = spec.container;
  const [old, wanted] = [before.split(" "), after.split(" ")];
  const isChanged = (resource: string) => [0, 1].some((offset) => old[(resource === "cpu" ? 0 : 2) + offset] !== wanted[(resource === "cpu" ? 0 : 2) + offset]);
  const needsRestart = resizePolicy.some(({ resourceName, restartPolicy }) => restartPolicy === "RestartContainer" && isChanged(resourceName));
  if (!needsRestart) return { isKept: true, step: { kind: "resize", spec, container } };
  return { isKept: true, step: { kind: "kill", spec, container, message: `Container ${name} resize requires restart`, isRestarted: true, cause: "resize" } };
}

function planWithoutSandbox(input: PlanInput): PodPlan {
  const { pod, runtime } = input;
  const [old] = runtime.sandboxes;
  const hasRunning = runtime.containers.some(isRunning);
  const isOver = runtime.containers.length > 0 && !isWorkLeft(input);
  if (isOver) return hasRunning || old?.state === "SANDBOX_READY" ? { kind: "stop" } : { kind: "idle" };
  // A pod that is never restarted does not begin anew in another sandbox.
  if (old !== undefined && pod.spec?.restartPolicy === "Never" && runtime.containers.length > 0) return hasRunning ? { kind: "stop" } : { kind: "idle" };
  return { kind: "sandbox", attempt: old === undefined ? 0 : old.metadata.attempt + 1, isChanged: old !== undefined };
}

/** Whether some regular container has not run to an end that stands. */
function isWorkLeft({ pod, runtime }: PlanInput): boolean {
  for (const spec of ofKind(pod, "initContainers")) {
    const last = latestOf(runtime, spec.container.name);
    const hasFailed = last !== undefined && hasExited(last) && last.status.exit_code !== 0 && !shouldRestart(pod, spec, last.status.exit_code);
    if (hasFailed) return false;
  }
  return ofKind(pod, "containers").some((spec) => {
    const last = latestOf(runtime, spec.container.name);
    return last === undefined || !hasExited(last) || shouldRestart(pod, spec, last.status.exit_code);
  });
}
