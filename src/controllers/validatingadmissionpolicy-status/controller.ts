import { keyOf, resources } from "../../client/index.ts";
import { defineController, watch } from "../../operator/index.ts";
import { planTypeChecks } from "./plan.ts";
import type { Controller } from "../../operator/index.ts";
import type { TypeCheckSnapshot } from "./plan.ts";

/** Writes into the status of validating admission policies what their expressions get wrong about the kinds they are about. */
export function validatingPolicyStatusController(): Controller {
  return defineController<TypeCheckSnapshot>({
    name: "validatingadmissionpolicy-status-controller",
    watches: [
      watch(resources.validatingAdmissionPolicies, { keys: (policy) => [keyOf(policy)] }),
      watch(resources.customResourceDefinitions, { keys: () => [] }),
    ],
    snapshot(name, caches) {
      const policy = caches.of(resources.validatingAdmissionPolicies).get("", name);
      return policy && { policy, definitions: caches.of(resources.customResourceDefinitions).list() };
    },
    plan: planTypeChecks,
  });
}
