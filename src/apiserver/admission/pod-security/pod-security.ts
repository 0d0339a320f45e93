/** PodSecurity: pods keep to the level that their namespace's labels name (documentation page "Pod Security Admission"). */
import type { Pod, PodSpec } from "../../../api/core-v1/types.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { invalidError } from "../../../apimachinery/status.ts";
import { findObject, findObjects } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { templateOf, templateResources } from "../pods/templates.ts";
import { annotate } from "../audit-annotations.ts";
import { refuse } from "../refuse.ts";
import { violationText, violationsOf } from "./checks.ts";
import type { PodLike } from "./checks.ts";
import type { PodSecurityConfiguration } from "./configuration.ts";
import { isSame, isStricter, levelText, policyOf } from "./levels.ts";
import type { LevelVersion, Mode, NamespacePolicy } from "./levels.ts";
import { isSignificantUpdate } from "./significant-update.ts";

/** Pods of a namespace that are looked at when its label changes. */
const examinedLimit = 3000;
const evaluatedSubresources = new Set(["", "ephemeralcontainers", "resize"]);

export function podSecurity(configuration: PodSecurityConfiguration): AdmissionPlugin {
  return {
    name: "PodSecurity",
    operations: new Set(["CREATE", "UPDATE"]),
    resources: new Set(["/namespaces", "/pods", ...templateResources]),
    validate(request) {
      if (request.definition.resource === "namespaces") return validateNamespace(request, configuration);
      const policy = policyFor(request, configuration);
      if (policy === undefined) return;
      if (request.definition.resource === "pods") validatePod(request, configuration, policy);
      else if (request.subresource === "") warnAboutTemplate(request, configuration, policy);
    },
  };
}

/** The policy of the request's namespace; undefined when nothing is to be checked. */
function policyFor({ context, namespace }: AdmissionRequest, { defaults, exemptions }: PodSecurityConfiguration): NamespacePolicy | undefined {
  const exemption = exemptions.namespaces.has(namespace) ? "namespace" : exemptions.usernames.has(context.user.username) ? "user" : undefined;
  if (exemption !== undefined) {
    annotate(context, `${annotationPrefix}exempt`, exemption);
    return undefined;
  }
  const policy = namespacePolicy(findObject(context.server, "/namespaces", "", namespace)?.metadata.labels, defaults);
  const isOpen = policy.enforce.level === "privileged" && policy.warn.level === "privileged" && policy.audit.level === "privileged";
  if (isOpen) annotate(context, `${annotationPrefix}enforce-policy`, "privileged:latest");
  return isOpen ? undefined : policy;
}

/** By labels of namespaces in the cache, which nobody changes. */
const namespacePolicies = new WeakMap<object, { readonly defaults: NamespacePolicy; readonly policy: NamespacePolicy }>();

function namespacePolicy(labels: Readonly<Record<string, string>> | undefined, defaults: NamespacePolicy): NamespacePolicy {
  if (labels === undefined) return defaults;
  const known = namespacePolicies.get(labels);
  if (known?.defaults === defaults) return known.policy;
  const { policy } = policyOf(labels, defaults);
  namespacePolicies.set(labels, { defaults, policy });
  return policy;
}

function validatePod(request: AdmissionRequest, { exemptions }: PodSecurityConfiguration, policy: NamespacePolicy): void {
  if (!evaluatedSubresources.has(request.subresource)) return;
  const pod = request.object as unknown as Pod;
  if (request.operation === "UPDATE" && !isSignificantUpdate(pod, request.oldObject as unknown as Pod)) return;
  const spec = pod.spec ?? {};
  if (isExemptClass(spec, exemptions.runtimeClasses)) return annotate(request.context, `${annotationPrefix}exempt`, "runtimeClass");
  annotate(request.context, `${annotationPrefix}enforce-policy`, levelText(policy.enforce));
  noteForAudit(request, { metadata: pod.metadata, spec }, policy.audit);
  const violations = violationsOf({ metadata: pod.metadata, spec }, policy.enforce);
  if (violations.length > 0) throw refuse(request, `violates PodSecurity "${levelText(policy.enforce)}": ${violationText(violations)}`);
  warn(request, { metadata: pod.metadata, spec }, policy.warn);
}

function warnAboutTemplate(request: AdmissionRequest, { exemptions }: PodSecurityConfiguration, policy: NamespacePolicy): void {
  const template = templateOf(request.definition, request.object!);
  if (template === undefined || isExemptClass(template.spec, exemptions.runtimeClasses)) return;
  noteForAudit(request, template, policy.audit);
  warn(request, template, policy.warn);
}

const annotationPrefix = "pod-security.kubernetes.io/";

function noteForAudit({ context }: AdmissionRequest, pod: PodLike, wanted: LevelVersion): void {
  if (context.audit === undefined) return;
  const violations = violationsOf(pod, wanted);
  if (violations.length > 0)
    annotate(context, `${annotationPrefix}audit-violations`, `would violate PodSecurity "${levelText(wanted)}": ${violationText(violations)}`);
}

function warn({ context }: AdmissionRequest, pod: PodLike, wanted: LevelVersion): void {
  const violations = violationsOf(pod, wanted);
  if (violations.length > 0) context.warnings.add(`would violate PodSecurity "${levelText(wanted)}": ${violationText(violations)}`);
}

function isExemptClass(spec: PodSpec, classes: ReadonlySet<string>): boolean {
  return spec.runtimeClassName !== undefined && classes.has(spec.runtimeClassName);
}

function validateNamespace(request: AdmissionRequest, configuration: PodSecurityConfiguration): void {
  if (request.subresource !== "") return;
  const { defaults } = configuration;
  const name = request.object!.metadata.name ?? "";
  const next = policyOf(request.object!.metadata.labels, defaults);
  const before = request.oldObject === undefined ? undefined : policyOf(request.oldObject.metadata.labels, defaults);
  const texts = (list: typeof next.errors) => JSON.stringify(list);
  if (next.errors.length > 0 && (before === undefined || texts(before.errors) !== texts(next.errors)))
    throw invalidError({ group: "", kind: "Namespace" }, name, next.errors);
  if (before === undefined) return warnWhenExempt(request, configuration, next.policy);
  const wanted = next.policy.enforce;
  if (isSame(wanted, before.policy.enforce) || wanted.level === "privileged") return;
  if (wanted.minor === before.policy.enforce.minor && !isStricter(wanted.level, before.policy.enforce.level)) return;
  if (configuration.exemptions.namespaces.has(name)) return warnWhenExempt(request, configuration, next.policy);
  warnAboutPods(request, configuration, wanted);
}

function warnWhenExempt({ context, object }: AdmissionRequest, { defaults, exemptions }: PodSecurityConfiguration, policy: NamespacePolicy): void {
  const name = object!.metadata.name!;
  if (!exemptions.namespaces.has(name)) return;
  const own = (["enforce", "audit", "warn"] satisfies Mode[])
    .filter((mode) => !isSame(policy[mode], defaults[mode]))
    .map((mode) => `${mode}=${levelText(policy[mode])}`);
  if (own.length > 0) context.warnings.add(`namespace ${JSON.stringify(name)} is exempt from Pod Security, and the policy (${own.join(", ")}) will be ignored`);
}

/** Tells which pods would not be let in any more. */
function warnAboutPods({ context, object }: AdmissionRequest, { exemptions }: PodSecurityConfiguration, wanted: LevelVersion): void {
  const namespace = object!.metadata.name!;
  const pods = findObjects(context.server, "/pods", namespace);
  const byText = new Map<string, { readonly first: string; count: number }>();
  for (const pod of pods.slice(0, examinedLimit)) {
    const text = summaryOf(pod, wanted, exemptions.runtimeClasses);
    if (text === "") continue;
    const known = byText.get(text);
    if (known === undefined) byText.set(text, { first: pod.metadata.name!, count: 1 });
    else known.count++;
  }
  if (byText.size === 0) return;
  context.warnings.add(`existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level "${levelText(wanted)}"`);
  const lines = [...byText].map(
    ([text, { first, count }]) => `${first}${count === 1 ? "" : ` (and ${count - 1} other pod${count === 2 ? "" : "s"})`}: ${text}`,
  );
  for (const line of lines.sort()) context.warnings.add(line);
  if (pods.length > examinedLimit)
    context.warnings.add(`new PodSecurity enforce level only checked against the first ${examinedLimit} of ${pods.length} existing pods`);
}

function summaryOf(object: KubeObject, wanted: LevelVersion, exemptClasses: ReadonlySet<string>): string {
  const { metadata, spec = {} } = object as unknown as Pod;
  if (isExemptClass(spec, exemptClasses)) return "";
  return violationsOf({ metadata, spec }, wanted)
    .map(({ reason }) => reason)
    .join(", ");
}
