import { deepEqual } from "../../apimachinery/json.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PodGroup } from "../../api/scheduling-v1beta1/types.ts";
import type { Condition } from "../../api/meta-v1/types.ts";

/** How an attempt ended for the group. */
export interface GroupOutcome {
  readonly reason: "Scheduled" | "Unschedulable" | "SchedulerError";
  readonly message: string;
}

/** What the group's status is to say; undefined when it says so already. Once scheduled, it says so for ever (KEP-4671). */
export function groupCondition({ status }: DeepReadonly<PodGroup>, { reason, message }: GroupOutcome, nowText: string): Condition | undefined {
  const known = status?.conditions?.find((one) => one.type === type);
  const said = { status: reason === "Scheduled" ? "True" : "False", reason, message } as const;
  if (known?.status === "True" || (known !== undefined && deepEqual({ status: known.status, reason: known.reason, message: known.message ?? "" }, said)))
    return undefined;
  return { type, ...said, lastTransitionTime: known?.status === said.status ? (known.lastTransitionTime ?? nowText) : nowText };
}

const type = "PodGroupInitiallyScheduled";
