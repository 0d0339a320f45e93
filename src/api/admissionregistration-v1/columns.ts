/** Rows of webhook configurations, admission policies and their bindings. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { age, nameOf } from "../cells.ts";
import type { LabelSelector } from "../meta-v1/types.ts";
import type { TablePrinter } from "../table.ts";
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "./types.ts";

export const webhookConfigurationColumns: TablePrinter<MutatingWebhookConfiguration | ValidatingWebhookConfiguration> = {
  cells: (configuration, context) => [nameOf(configuration), (configuration.webhooks ?? []).length, age(configuration, context)],
};

export const validatingAdmissionPolicyColumns: TablePrinter<ValidatingAdmissionPolicy> = {
  cells: (policy, context) => [nameOf(policy), (policy.spec?.validations ?? []).length, paramKindText(policy.spec?.paramKind), age(policy, context)],
};

export const mutatingAdmissionPolicyColumns: TablePrinter<MutatingAdmissionPolicy> = {
  cells: (policy, context) => [nameOf(policy), (policy.spec?.mutations ?? []).length, paramKindText(policy.spec?.paramKind), age(policy, context)],
};

export const admissionPolicyBindingColumns: TablePrinter<ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding> = {
  cells: (binding, context) => [nameOf(binding), binding.spec?.policyName ?? "", paramRefText(binding.spec?.paramRef), age(binding, context)],
};

function paramKindText(kind: DeepReadonly<ParamKind> | undefined): string {
  return kind === undefined ? "<unset>" : `${kind.apiVersion ?? ""}/${kind.kind ?? ""}`;
}

function paramRefText(reference: DeepReadonly<ParamRef> | undefined): string {
  if (reference === undefined) return "<unset>";
  if (reference.name !== undefined && reference.name !== "") return `${reference.namespace || "*"}/${reference.name}`;
  return reference.selector === undefined ? "<unset>" : goSelectorText(reference.selector);
}

/** A selector as Go's generated String method prints it: that is what upstream shows here. */
function goSelectorText({ matchLabels = {}, matchExpressions = [] }: DeepReadonly<LabelSelector>): string {
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`)
    .join("");
  const requirements = matchExpressions
    .map(({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`)
    .join("");
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${requirements}},}`;
}
