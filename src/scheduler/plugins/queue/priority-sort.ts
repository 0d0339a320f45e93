import type { Plugin } from "../../framework/plugin.ts";

/** The more important pod first, then the one that has waited longer. */
export const prioritySort: Plugin = {
  name: "PrioritySort",
  compare: (left, right) => right.priority - left.priority || left.queuedAtMs - right.queuedAtMs,
};
