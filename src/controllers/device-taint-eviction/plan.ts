import { formatTime } from "../../apimachinery/time.ts";
import { referenceTo, resources } from "../../client/index.ts";
import { deleteAction, eventAction, nothingToDo, patchAction } from "../../operator/index.ts";
import { whenGone } from "../ownership/when-gone.ts";
import { conditionPatch } from "../pods/condition-patch.ts";
import { devicesOf, endMs, taintsOn } from "./device-taints.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { DeviceTaintRule, ResourceClaim, ResourceSlice } from "../../api/resource-v1/types.ts";
import type { Action, Plan } from "../../operator/index.ts";

/** Pods leave devices with NoExecute taints that their claims do not tolerate, at once or when the time of the toleration is over (KEP-5055). */
export function planDeviceEviction(snapshot: DeviceSnapshot, nowMs: number): Plan {
  const { pod } = snapshot;
  const isOver = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
  const atMs = Math.min(...reasonsToLeave(snapshot).map((reason) => reason.atMs));
  if (isOver || pod.metadata.deletionTimestamp !== undefined || !Number.isFinite(atMs)) return nothingToDo;
  if (atMs > nowMs) return { actions: [], requeueAfterMs: atMs - nowMs };
  return { actions: evict(pod, nowMs), reasons: ["a device it uses has a taint that its claim does not tolerate"] };
}

export interface DeviceSnapshot {
  readonly pod: DeepReadonly<Pod>;
  /** Those reserved for the pod. */
  readonly claims: readonly DeepReadonly<ResourceClaim>[];
  readonly slices: readonly DeepReadonly<ResourceSlice>[];
  readonly rules: readonly DeepReadonly<DeviceTaintRule>[];
}

/** The taints that drive a pod away, when, and by which rule. */
export function reasonsToLeave({ claims, slices, rules }: Omit<DeviceSnapshot, "pod">): readonly { readonly atMs: number; readonly rule?: string }[] {
  return claims.flatMap((claim) =>
    devicesOf(claim).flatMap((device) =>
      taintsOn(device, slices, rules)
        .filter(({ taint }) => taint.effect === "NoExecute")
        .map(({ taint, rule }) => ({ atMs: endMs(device, taint), ...(rule !== undefined && { rule }) })),
    ),
  );
}

function evict(pod: DeepReadonly<Pod>, nowMs: number): Action[] {
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "DeletionByDeviceTaintManager",
    message: "Device Taint manager: deleting due to NoExecute taint",
    lastTransitionTime: formatTime(nowMs),
  };
  return [
    eventAction(referenceTo(resources.pods, pod), { type: "Normal", reason: "DeviceTaintManagerEviction", message: "Marking for deletion" }),
    patchAction(resources.pods, pod, conditionPatch(pod, condition), { subresource: "status", onError: whenGone }),
    deleteAction(resources.pods, pod, {}, { onError: whenGone }),
  ];
}
