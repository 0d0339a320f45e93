import { nothingToDo, patchAction } from "../../operator/index.ts";
import { resources } from "../../client/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ValidatingAdmissionPolicy } from "../../api/admissionregistration-v1/types.ts";
import type { CustomResourceDefinition } from "../../api/apiextensions-v1/types.ts";
import type { Plan } from "../../operator/index.ts";
import { typeWarnings } from "./type-warnings.ts";

export interface TypeCheckSnapshot {
  readonly policy: DeepReadonly<ValidatingAdmissionPolicy>;
  readonly definitions: readonly DeepReadonly<CustomResourceDefinition>[];
}

/** Each generation is checked once (KEP-3488, "Type checking"). */
export function planTypeChecks({ policy, definitions }: TypeCheckSnapshot): Plan {
  const { metadata, status } = policy;
  if (metadata.generation === undefined || (status?.observedGeneration ?? 0) >= metadata.generation) return nothingToDo;
  const expressionWarnings = typeWarnings(policy.spec ?? {}, definitions);
  const body = {
    kind: "ValidatingAdmissionPolicy",
    apiVersion: "admissionregistration.k8s.io/v1",
    metadata: { name: metadata.name },
    status: { observedGeneration: metadata.generation, typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings } },
  };
  const action = patchAction(
    resources.validatingAdmissionPolicies,
    policy,
    { type: "apply", body, fieldManager: "validatingadmissionpolicy-status-controller", isForced: true },
    { subresource: "status" },
  );
  return { actions: [action], reasons: ["the policy's expressions have not been checked since it changed"] };
}
