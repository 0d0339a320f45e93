import { isNotFound } from "../../apimachinery/status.ts";
import type { ErrorDecision } from "../../operator/index.ts";

/** An object that is gone needs nothing any more; every other refusal stops the plan. */
export function whenGone(error: Error): ErrorDecision {
  return { severity: isNotFound(error) ? "ignore" : "stop" };
}
