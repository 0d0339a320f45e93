/** Whether a container that has ended runs again (API fields restartPolicy of pod and container, restartPolicyRules; KEP 5307). Pure. */
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Pod } from "../../../api/core-v1/types.ts";
import { isSidecar } from "../runtime-names.ts";
import type { SpecContainer } from "../runtime-names.ts";

export function shouldRestart(pod: DeepReadonly<Pod>, spec: SpecContainer, exitCode: number): boolean {
  if (spec.kind === "ephemeralContainers") return false;
  if (isSidecar(spec)) return true;
  if (spec.container.restartPolicy !== undefined) {
    const rule = spec.container.restartPolicyRules?.find(({ exitCodes }) => exitCodes !== undefined && matchesCode(exitCodes, exitCode));
    if (rule !== undefined) return rule.action !== undefined;
  }
  const policy = restartPolicyOf(pod, spec);
  // An init container that has done its work is not run again, whatever the policy says.
  if (spec.kind === "initContainers" && exitCode === 0) return false;
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

/** The container's own policy, else the pod's. */
export function restartPolicyOf(pod: DeepReadonly<Pod>, { container }: SpecContainer): string {
  return container.restartPolicy ?? pod.spec?.restartPolicy ?? "Always";
}

function matchesCode({ operator, values = [] }: { readonly operator?: string; readonly values?: readonly number[] }, exitCode: number): boolean {
  return operator === "In" ? values.includes(exitCode) : operator === "NotIn" && !values.includes(exitCode);
}
