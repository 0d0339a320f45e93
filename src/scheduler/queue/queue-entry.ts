import type { PodInfo } from "../state/pod-info.ts";

/**
 * A pod that is to be scheduled. Where it is:
 * - active: in line for the next attempt
 * - backoff: in line when its back-off ends, or nobody else is
 * - unschedulable: waits for an event that may help, at most five minutes; gated pods wait here too
 * - inFlight: an attempt is under way
 * - gone: no longer the queue's
 */
export interface QueueEntry {
  info: PodInfo;
  place: "active" | "backoff" | "unschedulable" | "inFlight" | "gone";
  /** Grows each time the entry moves: what heaps hold of an earlier place is stale. */
  ticket: number;
  /** When it came to its present place. */
  queuedAtMs: number;
  attempts: number;
  /** When it came into the queue, or out of its gate; what its scheduling took is counted from there. */
  startedAtMs: number;
  /** When the attempt under way began, by the monotonic clock. */
  attemptStartedMs: number;
  /** Failures that back-off is counted by. */
  unschedulableCount: number;
  errorCount: number;
  /** Plugins that refused it; `pending` ones wait for something that is under way. */
  rejectors: ReadonlySet<string>;
  pendingPlugins: ReadonlySet<string>;
  /** The plugin whose PreEnqueue keeps it out. */
  gatedBy: string | undefined;
  /** Where the log of events began when the attempt did. */
  logStart: number;
}

export function newEntry(info: PodInfo, nowMs: number): QueueEntry {
  return {
    info,
    place: "gone",
    ticket: 0,
    queuedAtMs: nowMs,
    attempts: 0,
    startedAtMs: nowMs,
    attemptStartedMs: 0,
    unschedulableCount: 0,
    errorCount: 0,
    rejectors: nobody,
    pendingPlugins: nobody,
    gatedBy: undefined,
    logStart: 0,
  };
}

export const nobody: ReadonlySet<string> = new Set();
