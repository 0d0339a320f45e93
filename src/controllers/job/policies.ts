import { IndexSet } from "./index-set.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Job, PodFailurePolicyRule } from "../../api/batch-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";

/** What a Job's pod failure policy says of a failed pod (KEP-3329): the first rule that matches counts. */
export function judgeFailure(job: DeepReadonly<Job>, pod: DeepReadonly<Pod>): FailureJudgement {
  const rules = job.spec?.podFailurePolicy?.rules ?? [];
  for (const [index, rule] of rules.entries()) {
    const match = matchOf(rule, pod);
    if (match !== undefined) return { action: rule.action as FailureJudgement["action"], message: `${match} matching ${rule.action} rule at index ${index}` };
  }
  return { action: "Count", message: "" };
}

export interface FailureJudgement {
  readonly action: "FailJob" | "FailIndex" | "Ignore" | "Count";
  readonly message: string;
}

/** The rule of the success policy that is met (KEP-3998), as a message; undefined when none is. */
export function metSuccessRule(job: DeepReadonly<Job>, succeeded: IndexSet): string | undefined {
  const completions = job.spec?.completions ?? 0;
  for (const [index, { succeededIndexes, succeededCount }] of (job.spec?.successPolicy?.rules ?? []).entries()) {
    const wanted = succeededIndexes === undefined ? undefined : IndexSet.parse(succeededIndexes, completions);
    const reached = wanted === undefined ? succeeded.size : [...wanted].filter((candidate) => succeeded.has(candidate)).length;
    if (reached >= (succeededCount ?? wanted?.size ?? completions)) return `Matched rules at index ${index}`;
  }
  return undefined;
}

function matchOf({ onExitCodes, onPodConditions }: DeepReadonly<PodFailurePolicyRule>, pod: DeepReadonly<Pod>): string | undefined {
  const title = `${pod.metadata.namespace}/${pod.metadata.name}`;
  if (onExitCodes !== undefined && onExitCodes !== null) {
    const { containerName, operator, values = [] } = onExitCodes;
    for (const { name, state } of [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]) {
      const code = state?.terminated?.exitCode;
      if (code === undefined || code === 0 || (containerName !== undefined && containerName !== name)) continue;
      if (values.includes(code) === (operator === "In")) return `Container ${name} for pod ${title} failed with exit code ${code}`;
    }
    return undefined;
  }
  for (const { type, status } of onPodConditions ?? []) {
    if (pod.status?.conditions?.some((condition) => condition.type === type && condition.status === status) === true)
      return `Pod ${title} has condition ${type}`;
  }
  return undefined;
}
