/** What the scheduler counts of itself, from its `/metrics`. */
import { metricsOf, sumOf } from "./metrics.ts";
import type { ConnectionSettings } from "../../../src/client/index.ts";

export interface SchedulerFigures {
  readonly decisions: number;
  readonly seconds: number;
  /** Pods that were tried in vain, or are kept out. */
  readonly waiting: number;
}

export async function schedulerFigures(settings: ConnectionSettings, port: number): Promise<SchedulerFigures> {
  const text = await metricsOf(settings, port);
  return {
    decisions: sumOf(text, "scheduler_scheduling_algorithm_duration_seconds_count"),
    seconds: sumOf(text, "scheduler_scheduling_algorithm_duration_seconds_sum"),
    waiting: sumOf(text, "scheduler_pending_pods", /queue="(gated|unschedulable)"/),
  };
}
