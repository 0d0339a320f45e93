/** Webhook configurations, validating and mutating ones (API reference "ValidatingWebhookConfiguration v1 admissionregistration.k8s.io"). */
import { duplicate, invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1035Label, isFullyQualifiedName, subdomainName } from "../../apimachinery/names.ts";
import { validateLabelSelector } from "../meta/labels.ts";
import { validateWebhookClient } from "../meta/webhook-client.ts";
import { defineKind } from "../strategy.ts";
import type { KindStrategy, RuleContext } from "../strategy.ts";
import { validateMatchConditions } from "./expressions.ts";
import { defaultRules, matchPolicies, validateRule } from "./rules.ts";
import type { MutatingWebhook, MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "./types.ts";

type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;
/** A webhook of either kind: `reinvocationPolicy` is for mutating ones. */
type Webhook = MutatingWebhook;

export const validatingWebhookConfigurations = webhookConfigurations("ValidatingWebhookConfiguration");
export const mutatingWebhookConfigurations = webhookConfigurations("MutatingWebhookConfiguration");

function webhookConfigurations(kind: "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration"): KindStrategy<Configuration> {
  const isMutating = kind === "MutatingWebhookConfiguration";
  return defineKind<Configuration>({
    gvk: { group: "admissionregistration.k8s.io", version: "v1", kind },
    nameRule: subdomainName,
    requiresQualifiedFinalizers: false,
    generation: "spec",
    defaults: ({ webhooks }) => (webhooks ?? []).forEach((webhook) => defaultWebhook(webhook, isMutating)),
    create: { validate: (configuration, context) => validateConfiguration(configuration, undefined, isMutating, context) },
    update: {
      validate: (configuration, old, context) => validateConfiguration(configuration, old, isMutating, context),
      allowsUnconditional: false,
    },
  });
}

function defaultWebhook(webhook: Webhook, isMutating: boolean): void {
  webhook.failurePolicy ??= "Fail";
  webhook.matchPolicy ??= "Equivalent";
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= 10;
  if (isMutating) webhook.reinvocationPolicy ??= "Never";
  if (webhook.clientConfig?.service !== undefined) webhook.clientConfig.service.port ??= 443;
  defaultRules(webhook.rules);
}

const failurePolicies = ["Fail", "Ignore"];
const harmlessSideEffects = ["None", "NoneOnDryRun"];
const allSideEffects = ["None", "NoneOnDryRun", "Some", "Unknown"];
const reinvocationPolicies = ["IfNeeded", "Never"];
const reviewVersions = ["v1", "v1beta1"];

/** Configurations stored before a rule was made may go on breaking it. */
interface Leniency {
  readonly allowsSideEffects: boolean;
  readonly allowsSameNames: boolean;
  readonly allowsUnknownVersions: boolean;
}

function validateConfiguration(configuration: Configuration, old: Configuration | undefined, isMutating: boolean, context: RuleContext): FieldError[] {
  const webhooks = (configuration.webhooks ?? []) as Webhook[];
  const before = (old?.webhooks ?? []) as Webhook[];
  const names = before.map(({ name }) => name);
  const leniency: Leniency = {
    allowsSideEffects: before.some(({ sideEffects = "" }) => !harmlessSideEffects.includes(sideEffects)),
    allowsSameNames: new Set(names).size < names.length,
    allowsUnknownVersions: before.some(({ admissionReviewVersions = [] }) => !admissionReviewVersions.some((version) => reviewVersions.includes(version))),
  };
  const oldConditions = before.flatMap(({ matchConditions = [] }) => matchConditions);
  const seen = new Set<string>();
  return webhooks.flatMap((webhook, index) => {
    const path = FieldPath.root("webhooks").index(index);
    const errors = [
      ...validateWebhook(webhook, leniency, path),
      ...(isMutating && !reinvocationPolicies.includes(webhook.reinvocationPolicy ?? "")
        ? [notSupported(path.child("reinvocationPolicy"), webhook.reinvocationPolicy ?? "", reinvocationPolicies)]
        : []),
      ...validateWebhookClient(webhook.clientConfig ?? {}, path.child("clientConfig")),
      ...validateMatchConditions(webhook.matchConditions ?? [], oldConditions, false, context, path.child("matchConditions")),
      ...validateReviewVersions(webhook.admissionReviewVersions ?? [], leniency.allowsUnknownVersions, path.child("admissionReviewVersions")),
    ];
    if (webhook.name && seen.has(webhook.name) && !leniency.allowsSameNames) errors.push(duplicate(path.child("name"), webhook.name));
    seen.add(webhook.name);
    return errors;
  });
}

function validateWebhook(webhook: Webhook, { allowsSideEffects }: Leniency, path: FieldPath): FieldError[] {
  const { name = "", rules = [], failurePolicy, matchPolicy, timeoutSeconds } = webhook;
  return [
    ...(name === "" ? [required(path.child("name"))] : invalidEach(path.child("name"), name, isFullyQualifiedName(name))),
    ...rules.flatMap((rule, index) => validateRule(rule, path.child("rules").index(index))),
    ...(failurePolicy === undefined || failurePolicies.includes(failurePolicy)
      ? []
      : [notSupported(path.child("failurePolicy"), failurePolicy, failurePolicies)]),
    ...(matchPolicy === undefined || matchPolicies.includes(matchPolicy) ? [] : [notSupported(path.child("matchPolicy"), matchPolicy, matchPolicies)]),
    ...validateSideEffects(webhook.sideEffects, allowsSideEffects, path.child("sideEffects")),
    ...(timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > 30)
      ? [invalid(path.child("timeoutSeconds"), timeoutSeconds, "the timeout value must be between 1 and 30 seconds")]
      : []),
    ...validateLabelSelector(webhook.namespaceSelector, path.child("namespaceSelector")),
    ...validateLabelSelector(webhook.objectSelector, path.child("objectSelector")),
  ];
}

function validateSideEffects(sideEffects: string | undefined, allowsAny: boolean, path: FieldPath): FieldError[] {
  const supported = allowsAny ? allSideEffects : harmlessSideEffects;
  if (sideEffects === undefined) return allowsAny ? [] : [required(path, `must specify one of ${supported.join(", ")}`)];
  return supported.includes(sideEffects) ? [] : [notSupported(path, sideEffects, supported)];
}

function validateReviewVersions(versions: readonly string[], allowsUnknown: boolean, path: FieldPath): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${reviewVersions.join(", ")}`)];
  const seen = new Set<string>();
  const errors = versions.flatMap((version, index) => {
    if (seen.has(version)) return [invalid(path.index(index), version, "duplicate version")];
    seen.add(version);
    return invalidEach(path.index(index), version, isDns1035Label(version));
  });
  const hasKnown = versions.some((version) => reviewVersions.includes(version));
  return hasKnown || allowsUnknown ? errors : [...errors, invalid(path, versions, `must include at least one of ${reviewVersions.join(", ")}`)];
}
