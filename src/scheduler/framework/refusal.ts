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

/** A refusal that pods which leave could lift. */
export function unschedulable(...reasons: string[]): Refusal {
  return { code: "unschedulable", reasons };
}
/** A refusal that no preemption would lift. */
export function unresolvable(...reasons: string[]): Refusal {
  return { code: "unresolvable", reasons };
}
/** A refusal while what is missing is being made: the pod is tried again without back-off. */
export function pending(...reasons: string[]): Refusal {
  return { code: "pending", reasons };
}
/** An error: the pod is tried again after a back-off, whatever happens. */
export function failed(...reasons: string[]): Refusal {
  return { code: "failed", reasons };
}

/** Whether what an extension point answered is a refusal. */
export function isRefusal(value: object): value is Refusal {
  return "code" in value && "reasons" in value;
}
