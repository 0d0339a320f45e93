/** Rows of groups of pods and of their workloads. */
import { age, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { PodGroup, Workload } from "./types.ts";

export const workloadColumns: TablePrinter<Workload> = { cells: (workload, context) => [nameOf(workload), age(workload, context)] };

export const podGroupColumns: TablePrinter<PodGroup> = {
  cells(group, context) {
    const { schedulingPolicy, workloadRef } = group.spec ?? {};
    const isScheduled = group.status?.conditions?.some(({ type, status }) => type === "PodGroupInitiallyScheduled" && status === "True") === true;
    return [nameOf(group), policyText(schedulingPolicy), workloadRef?.workloadName ?? "<none>", isScheduled ? "Scheduled" : "Pending", age(group, context)];
  },
};

export function policyText(policy: { readonly basic?: object; readonly gang?: object } | undefined): string {
  if (policy?.gang !== undefined) return "Gang";
  return policy?.basic === undefined ? "<none>" : "Basic";
}
