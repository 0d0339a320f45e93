/**
 * Why something cannot be (framework "Status"). Plugins keep their usual refusals as constants: thousands of nodes share one object.
 * - `unschedulable`: not now; the pods that run there could make room
 * - `unresolvable`: no preemption would help
 * - `pending`: as unresolvable, and the pod waits for something that somebody is doing already: it is retried without back-off
 * - `failed`: an error; the pod is retried with back-off whatever happens
 */
export interface Refusal {
  readonly code: "unschedulable" | "unresolvable" | "pending" | "failed";
  /** Texts that the pod's message counts. */
  readonly reasons: readonly string[];
  /** The plugin that refused; the framework fills it in. */
  readonly plugin?: string;
}

export function unschedulable(...reasons: string[]): Refusal {
  return { code: "unschedulable", reasons };
}
export function unresolvable(...reasons: string[]): Refusal {
  return { code: "unresolvable", reasons };
}
export function pending(...reasons: string[]): Refusal {
  return { code: "pending", reasons };
}
export function failed(...reasons: string[]): Refusal {
  return { code: "failed", reasons };
}

export function isRefusal(value: object): value is Refusal {
  return "code" in value && "reasons" in value;
}
