import type { KindStrategy } from "../strategy.ts";
import { mutatingAdmissionPolicies } from "./mutating-policy.ts";
import { mutatingAdmissionPolicyBindings, validatingAdmissionPolicyBindings } from "./policy-bindings.ts";
import { validatingAdmissionPolicies } from "./validating-policy.ts";
import { mutatingWebhookConfigurations, validatingWebhookConfigurations } from "./webhooks.ts";

export const admissionregistrationV1Strategies: readonly KindStrategy[] = [
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  mutatingWebhookConfigurations,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
];
