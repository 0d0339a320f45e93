import { unresolvable } from "../../framework/refusal.ts";
import type { Plugin } from "../../framework/plugin.ts";

/** Pods with scheduling gates wait until the last gate is removed (KEP-3521). */
export const schedulingGates: Plugin = {
  name: "SchedulingGates",
  events: [{ resource: "TargetPod", actions: ["UpdatePodSchedulingGatesEliminated"] }],
  preEnqueue({ pod }) {
    const gates = pod.spec?.schedulingGates ?? [];
    if (gates.length === 0) return undefined;
    return unresolvable(`waiting for scheduling gates: [${gates.map(({ name }) => name).join(" ")}]`);
  },
};
