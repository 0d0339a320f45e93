/** How a definition that is being deleted ends: first its instances go, then the finalizer that held it. Pure. */
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from "../../api/apiextensions-v1/types.ts";
import { findCondition, isAsWanted, isTrue, withCondition } from "./conditions.ts";
import type { WantedCondition } from "./conditions.ts";

export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

export interface TerminationStep {
  readonly kind: "delete instances" | "finish";
  /** To be written first, when it differs from what there is. */
  readonly status: CustomResourceDefinitionStatus | undefined;
}

const inProgress: WantedCondition = {
  type: "Terminating",
  status: "True",
  reason: "InstanceDeletionInProgress",
  message: "CustomResource deletion is in progress",
};

/** What to do next for a definition that has `instances` objects left. */
export function terminationStep(crd: CustomResourceDefinition, instances: number, nowMs: number): TerminationStep {
  if (!isTrue(crd, "Established") || instances === 0) return { kind: "finish", status: undefined };
  const isTold = isAsWanted(findCondition(crd, "Terminating"), inProgress);
  return {
    kind: "delete instances",
    status: isTold ? undefined : { ...crd.status, conditions: withCondition(crd.status?.conditions ?? [], inProgress, nowMs) },
  };
}
