/** What the server decides about a pod before it is stored. */
import { numberOf } from "../../../apimachinery/json.ts";
import { formatTime } from "../../../apimachinery/time.ts";
import type { LabelSelector } from "../../meta-v1/types.ts";
import type { RuleContext } from "../../strategy.ts";
import type { Pod, PodSpec } from "../types.ts";
import { mirrorAppArmor } from "./annotations.ts";
import { dropDisabledFields } from "./disabled-fields.ts";
import { qosClassOf } from "./qos.ts";

export function prepareNewPod(pod: Pod, context: RuleContext): void {
  const spec = (pod.spec ??= {});
  dropDisabledFields(spec, undefined, context);
  raiseGracePeriod(spec);
  pod.status = { phase: "Pending", qosClass: qosClassOf(spec) };
  if ((spec.schedulingGates ?? []).length > 0) {
    pod.status.conditions = [
      {
        type: "PodScheduled",
        status: "False",
        lastTransitionTime: formatTime(context.nowMs),
        reason: "SchedulingGated",
        message: "Scheduling is blocked due to non-empty scheduling gates",
      },
    ];
  }
  mergeLabelKeys(spec, pod.metadata.labels ?? {}, context);
  mirrorAppArmor(pod, (text) => context.warn?.(text));
}

/** The main path leaves status as it is. */
export function prepareChangedPod(pod: Pod, old: Pod, context: RuleContext): void {
  const spec = (pod.spec ??= {});
  dropDisabledFields(spec, old.spec, context);
  raiseGracePeriod(spec);
  keep(pod, "status", old.status);
}

export function keep<Holder extends object, Field extends keyof Holder>(holder: Holder, field: Field, value: Holder[Field] | undefined): void {
  if (value === undefined) delete holder[field];
  else holder[field] = value;
}

/** A negative period counts as one second. */
function raiseGracePeriod(spec: PodSpec): void {
  if (spec.terminationGracePeriodSeconds !== undefined && numberOf(spec.terminationGracePeriodSeconds) < 0) spec.terminationGracePeriodSeconds = 1;
}

/** Values of the pod's own labels become part of the selectors that name their keys. */
function mergeLabelKeys(spec: PodSpec, labels: Readonly<Record<string, string>>, context: RuleContext): void {
  for (const kind of ["podAffinity", "podAntiAffinity"] as const) {
    const { requiredDuringSchedulingIgnoredDuringExecution: hard = [], preferredDuringSchedulingIgnoredDuringExecution: soft = [] } =
      spec.affinity?.[kind] ?? {};
    for (const term of [...hard, ...soft.map(({ podAffinityTerm }) => podAffinityTerm)]) {
      select(term?.labelSelector, term?.matchLabelKeys, "In", labels);
      select(term?.labelSelector, term?.mismatchLabelKeys, "NotIn", labels);
    }
  }
  if (!context.isEnabled("MatchLabelKeysInPodTopologySpreadSelectorMerge")) return;
  for (const { labelSelector, matchLabelKeys } of spec.topologySpreadConstraints ?? []) select(labelSelector, matchLabelKeys, "In", labels);
}

function select(
  selector: LabelSelector | undefined,
  keys: readonly string[] | undefined,
  operator: "In" | "NotIn",
  labels: Readonly<Record<string, string>>,
): void {
  if (selector === undefined) return;
  for (const key of keys ?? []) {
    const value = labels[key];
    if (value !== undefined) (selector.matchExpressions ??= []).push({ key, operator, values: [value] });
  }
}
