/** Conditions of CustomResourceDefinitions (API reference "CustomResourceDefinitionCondition"). Pure. */
import { formatTime } from "../../apimachinery/time.ts";
import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from "../../api/apiextensions-v1/types.ts";

export type ConditionType = "Established" | "NamesAccepted" | "NonStructuralSchema" | "Terminating" | "KubernetesAPIApprovalPolicyConformant";

export interface WantedCondition {
  readonly type: ConditionType;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

export function findCondition(crd: CustomResourceDefinition, type: ConditionType): CustomResourceDefinitionCondition | undefined {
  return crd.status?.conditions?.find((condition) => condition.type === type);
}

export function isTrue(crd: CustomResourceDefinition, type: ConditionType): boolean {
  return findCondition(crd, type)?.status === "True";
}

export function isTerminating(crd: CustomResourceDefinition): boolean {
  return crd.metadata.deletionTimestamp !== undefined || isTrue(crd, "Terminating");
}

/** The conditions with `wanted` among them, in its old place or behind the others; its time moves with its status. */
export function withCondition(
  conditions: readonly CustomResourceDefinitionCondition[],
  wanted: WantedCondition,
  nowMs: number,
): CustomResourceDefinitionCondition[] {
  const index = conditions.findIndex(({ type }) => type === wanted.type);
  const old = conditions[index];
  const { type, status, reason, message } = wanted;
  const time = old?.status === status && old.lastTransitionTime !== undefined ? old.lastTransitionTime : formatTime(nowMs);
  const condition: CustomResourceDefinitionCondition = { type, status, lastTransitionTime: time, reason, message };
  return index < 0 ? [...conditions, condition] : conditions.with(index, condition);
}

export function isAsWanted(old: CustomResourceDefinitionCondition | undefined, wanted: WantedCondition): boolean {
  return old !== undefined && old.status === wanted.status && old.reason === wanted.reason && old.message === wanted.message;
}
