/** Init containers run one after the other; restartable ones (sidecars) hold the next back only until they have started. Pure. */
import { hasExited, isRunning, latestOf } from "../pod-runtime.ts";
import { planContainer, restartStep } from "../plan.ts";
import type { ContainerStep, PlanInput } from "../plan.ts";
import { shouldRestart } from "./restart-rules.ts";
import { isSidecar, ofKind } from "../runtime-names.ts";
import type { SpecContainer } from "../runtime-names.ts";

export function planInitContainers(input: PlanInput, sandboxId: string): InitPlan {
  const specs = ofKind(input.pod, "initContainers");
  const isKnown = (spec: SpecContainer) => latestOf(input.runtime, spec.container.name, sandboxId) !== undefined;
  const hasMainBegun = ofKind(input.pod, "containers").some(isKnown);
  const position = hasMainBegun ? specs.length : specs.findLastIndex(isKnown);
  const steps: ContainerStep[] = [];
  for (const spec of specs.slice(0, Math.max(0, position))) {
    // Ended init containers before the current one have done their work (and may have been removed since).
    const { step } = isSidecar(spec) ? planContainer(input, spec, sandboxId) : {};
    if (step !== undefined) steps.push(step);
  }
  if (position === specs.length) return { outcome: "done", steps };
  const current = specs[position];
  const state = current === undefined ? "passed" : planCurrent(input, current, sandboxId, steps);
  if (state !== "passed") return { outcome: state, steps };
  const next = specs[position + 1];
  if (next === undefined) return { outcome: "done", steps };
  const { step } = planContainer(input, next, sandboxId);
  return { outcome: "waiting", steps: step === undefined ? steps : [...steps, step] };
}

export interface InitPlan {
  /** `failed`: one ended badly and is not restarted. */
  readonly outcome: "done" | "waiting" | "failed";
  readonly steps: readonly ContainerStep[];
}

function planCurrent(input: PlanInput, spec: SpecContainer, sandboxId: string, steps: ContainerStep[]): "passed" | "waiting" | "failed" {
  const current = latestOf(input.runtime, spec.container.name, sandboxId)!;
  if (isSidecar(spec)) {
    const { step } = planContainer(input, spec, sandboxId);
    if (step !== undefined) steps.push(step);
    return isRunning(current) && step === undefined && input.health(current).isStarted ? "passed" : "waiting";
  }
  if (!hasExited(current)) {
    if (!isRunning(current)) steps.push({ kind: "remove", container: current });
    return "waiting";
  }
  if (current.status.exit_code === 0) return "passed";
  if (!shouldRestart(input.pod, spec, current.status.exit_code)) return "failed";
  steps.push(restartStep(input, spec, current));
  return "waiting";
}
