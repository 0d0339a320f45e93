/** The end that a pod sets itself (API field `activeDeadlineSeconds`). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { parseTime } from "../../apimachinery/time.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Verdict } from "../status/pod-status.ts";

/** When it comes; undefined: never, or not yet known. */
export function deadlineMs({ spec, status }: DeepReadonly<Pod>): number | undefined {
  if (spec?.activeDeadlineSeconds === undefined || status?.startTime === undefined) return undefined;
  return parseTime(status.startTime) + spec.activeDeadlineSeconds * 1000;
}

export const deadlineVerdict: Verdict = {
  phase: "Failed",
  reason: "DeadlineExceeded",
  message: "Pod was active on the node longer than the specified deadline",
};
