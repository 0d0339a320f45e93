import { deepEqual } from "../../apimachinery/json.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { edited, resources } from "../../client/index.ts";
import { nothingToDo, updateStatusAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { DeviceTaintRule } from "../../api/resource-v1/types.ts";
import type { Plan } from "../../operator/index.ts";

/** A rule's status tells how far its evictions are, or, once and for all, what they would be if it had an effect. */
export function planRule(snapshot: RuleSnapshot, nowMs: number): Plan {
  const { rule } = snapshot;
  const effect = rule.spec.taint?.effect;
  const known = rule.status?.conditions?.find(({ type }) => type === "EvictionInProgress");
  const isCurrent = known?.observedGeneration === rule.metadata.generation;
  if (effect === "None" && isCurrent) return nothingToDo;
  const told = effect === "None" ? outlook(snapshot) : effect === "NoExecute" ? progress(snapshot) : undefined;
  if (told === undefined) return nothingToDo;
  const { generation } = rule.metadata;
  const lastTransitionTime = known?.status === told.status ? known.lastTransitionTime : formatTime(nowMs);
  const condition = { type: "EvictionInProgress", ...told, ...(generation !== undefined && { observedGeneration: generation }), lastTransitionTime };
  if (deepEqual(condition, known)) return nothingToDo;
  const updated = edited<DeviceTaintRule>(rule, (draft) => {
    const others = (draft.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
    draft.status = { ...draft.status, conditions: [...others, condition] };
  });
  return { actions: [updateStatusAction(resources.deviceTaintRules, updated, { onError: whenGone })] };
}

export interface RuleSnapshot {
  readonly rule: DeepReadonly<DeviceTaintRule>;
  /** Devices that the rule selects, as published and as allocated. */
  readonly published: number;
  readonly allocated: number;
  /** Namespaces of the pods that have to go, one for each pod. */
  readonly affected: readonly string[];
  /** Pods that this rule has driven away since the controller runs. */
  readonly evicted: number;
}

interface Told {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

function outlook({ published, allocated, affected }: RuleSnapshot): Told {
  const message = [
    `${count(published, "published device")} selected.`,
    `${count(allocated, "allocated device")} selected.`,
    `${count(affected.length, "pod")} would be evicted in ${count(new Set(affected).size, "namespace")} if the effect was NoExecute.`,
    "This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.",
  ].join(" ");
  return { status: "False", reason: "NoEffect", message };
}

function progress({ affected, evicted }: RuleSnapshot): Told {
  const done = `${count(evicted, "pod")} evicted since starting the controller.`;
  if (affected.length === 0) return { status: "False", reason: "Completed", message: done };
  const needs = affected.length === 1 ? "needs" : "need";
  return {
    status: "True",
    reason: "PodsPendingEviction",
    message: `${count(affected.length, "pod")} ${needs} to be evicted in ${count(new Set(affected).size, "namespace")}. ${done}`,
  };
}

function count(amount: number, thing: string): string {
  return `${amount} ${thing}${amount === 1 ? "" : "s"}`;
}
