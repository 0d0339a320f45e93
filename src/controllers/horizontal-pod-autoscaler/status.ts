import { deepEqual } from "../../apimachinery/json.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { edited, resources } from "../../client/index.ts";
import { updateStatusAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerCondition, HorizontalPodAutoscalerStatus } from "../../api/autoscaling-v2/types.ts";
import type { Action } from "../../operator/index.ts";

/** The status of an autoscaler while it is worked out. Conditions keep their place and, while their status is the same, their time. */
export class StatusDraft {
  readonly #autoscaler: DeepReadonly<HorizontalPodAutoscaler>;
  readonly #nowMs: number;
  #status: HorizontalPodAutoscalerStatus;

  constructor(autoscaler: DeepReadonly<HorizontalPodAutoscaler>, nowMs: number) {
    this.#autoscaler = autoscaler;
    this.#nowMs = nowMs;
    const { status, metadata } = autoscaler;
    const draft = edited<HorizontalPodAutoscaler>(autoscaler, () => undefined).status;
    this.#status = {
      ...draft,
      desiredReplicas: status?.desiredReplicas ?? 0,
      ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    };
  }

  set(fields: Partial<HorizontalPodAutoscalerStatus>): void {
    this.#status = { ...this.#status, ...fields };
  }

  condition(type: string, isTrue: boolean, reason: string, message: string): void {
    const conditions = this.#status.conditions ?? [];
    const status = isTrue ? "True" : "False";
    const known = conditions.find((condition) => condition.type === type);
    const lastTransitionTime = known?.status === status && known.lastTransitionTime !== undefined ? known.lastTransitionTime : formatTime(this.#nowMs);
    const condition: HorizontalPodAutoscalerCondition = { type, status, lastTransitionTime, reason, message };
    this.set({ conditions: known === undefined ? [...conditions, condition] : conditions.map((other) => (other === known ? condition : other)) });
  }

  /** The write, if anything changed. */
  actions(): Action[] {
    if (deepEqual(this.#status, this.#autoscaler.status)) return [];
    const updated = edited<HorizontalPodAutoscaler>(this.#autoscaler, (draft) => {
      draft.status = this.#status;
    });
    return [updateStatusAction(resources.horizontalPodAutoscalers, updated, { onError: whenGone })];
  }
}
