/**
 * What a probe's results add up to (API reference "Probe"). Pure. A verdict changes after `successThreshold` or `failureThreshold` equal
 * results in a row.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Probe } from "../../api/core-v1/types.ts";

export type ProbeKind = "startup" | "readiness" | "liveness";

export type ProbeOutcome = { readonly isSuccess: true } | { readonly isSuccess: false; readonly message: string };

export interface ProbeState {
  /** Undefined: not known yet. */
  readonly verdict: boolean | undefined;
  readonly last: boolean | undefined;
  readonly run: number;
}

/** Before the first result: alive and not ready, not started. */
export const initialProbeState: ProbeState = { verdict: undefined, last: undefined, run: 0 };

export function addResult(state: ProbeState, probe: DeepReadonly<Probe>, isSuccess: boolean): ProbeState {
  const run = state.last === isSuccess ? state.run + 1 : 1;
  const threshold = isSuccess ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
  return { verdict: run >= threshold ? isSuccess : state.verdict, last: isSuccess, run };
}

/** A process that has just begun does not listen yet; a try that fails for it would cost a whole period, and a warning. */
const listeningTakesMs = 100;

/** When the first try is due, for a container that started at `startedMs`. (Kubernetes' kubelet begins somewhere in the first period.) */
export function firstProbeMs(probe: DeepReadonly<Probe>, startedMs: number): number {
  return startedMs + Math.max((probe.initialDelaySeconds ?? 0) * 1000, listeningTakesMs);
}

export const periodMs = (probe: DeepReadonly<Probe>) => (probe.periodSeconds ?? 10) * 1000;
export const timeoutMs = (probe: DeepReadonly<Probe>) => (probe.timeoutSeconds ?? 1) * 1000;
