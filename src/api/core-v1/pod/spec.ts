/** Rules of a pod spec, in a pod or in a template, in upstream's order. */
import { numberOf } from "../../../apimachinery/json.ts";
import { forbidden, invalid, invalidEach, notSupported, required, tooLong } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { byteLength, isDns1123Label, isDns1123Subdomain, isQualifiedName, rangeText } from "../../../apimachinery/names.ts";
import type { ObjectMeta } from "../../../apimachinery/object.ts";
import type { RuleContext } from "../../strategy.ts";
import { validateLabels } from "../../meta/labels.ts";
import { strictnessOf } from "../../meta/strictness.ts";
import type { PodSpec } from "../types.ts";
import { validateContainers, validateInitContainers } from "./containers.ts";
import type { ContainerRules } from "./containers.ts";
import { validateEphemeralContainers } from "./ephemeral.ts";
import { validateDnsConfig, validateDnsPolicy, validateHostAliases } from "./name-resolution.ts";
import { validateHostProcess, validateHostUsers, validateOperatingSystem } from "./operating-system.ts";
import { validateHostNetworkPorts } from "./ports.ts";
import { validateOverhead, validatePodClaims, validatePodLevelResources } from "./resources.ts";
import { validateAffinity, validateSchedulingGates, validateSpreadConstraints, validateTolerations } from "./scheduling.ts";
import { validatePodSecurityContext } from "./security-context.ts";
import { validateVolumes } from "./volumes.ts";

export interface PodSpecRules {
  /** Of the pod; absent for templates. */
  readonly metadata?: ObjectMeta;
  readonly context: Pick<RuleContext, "isEnabled" | "settings">;
}

const maxInt32 = 2 ** 31 - 1;

export function validatePodSpec(spec: PodSpec, { metadata, context }: PodSpecRules, path: FieldPath): FieldError[] {
  const isPod = metadata !== undefined;
  const { errors: volumeErrors, volumes } = validateVolumes(spec.volumes ?? [], { metadata, isPod }, path.child("volumes"));
  const { errors: claimErrors, names: claims } = validatePodClaims(spec.resourceClaims ?? [], metadata, path.child("resourceClaims"));
  const rules: ContainerRules = { spec, volumes, claims, context };
  return [
    ...volumeErrors,
    ...claimErrors,
    ...validateContainers(rules, path.child("containers")),
    ...validateInitContainers(rules, path.child("initContainers")),
    ...validateEphemeralContainers(rules, path.child("ephemeralContainers")),
    ...validatePodLevelResources(spec, claims, path.child("resources")),
    ...(spec.hostNetwork === true ? validateHostNetworkPorts(spec.containers ?? [], isPod, path.child("containers")) : []),
    ...validateRestartPolicy(spec.restartPolicy, path.child("restartPolicy")),
    ...validateDnsPolicy(spec.dnsPolicy, path.child("dnsPolicy")),
    ...validateLabels(spec.nodeSelector, path.child("nodeSelector")),
    ...(spec.securityContext === undefined ? [] : validatePodSecurityContext(spec.securityContext, spec, path)),
    ...(spec.affinity === undefined ? [] : validateAffinity(spec.affinity, path.child("affinity"))),
    ...validateDnsConfig(spec.dnsConfig, spec.dnsPolicy, strictnessOf(context), path.child("dnsConfig")),
    ...(spec.readinessGates ?? []).flatMap(({ conditionType = "" }, index) =>
      invalidEach(path.child("readinessGates").index(index).child("conditionType"), conditionType, isQualifiedName(conditionType)),
    ),
    ...validateSchedulingGates(spec.schedulingGates ?? [], path.child("schedulingGates")),
    ...validateSpreadConstraints(spec.topologySpreadConstraints ?? [], path.child("topologySpreadConstraints")),
    ...validateHostProcess(spec, path),
    ...validateHostUsers(spec, context.isEnabled("UserNamespacesHostNetworkSupport"), path),
    ...validateNames(spec, path),
    ...validateTolerations(spec.tolerations ?? [], path.child("tolerations"), context.isEnabled("TaintTolerationComparisonOperators")),
    ...validateHostAliases(spec.hostAliases ?? [], strictnessOf(context), path.child("hostAliases")),
    ...validateClasses(spec, path),
    ...(spec.overhead === undefined ? [] : validateOverhead(spec.overhead, path.child("overhead"))),
    ...validateOperatingSystem(spec, path),
  ];
}

function validateRestartPolicy(policy: string | undefined, path: FieldPath): FieldError[] {
  if (!policy) return [required(path)];
  return ["Always", "OnFailure", "Never"].includes(policy) ? [] : [notSupported(path, policy, ["Always", "OnFailure", "Never"])];
}

function validateNames(spec: PodSpec, path: FieldPath): FieldError[] {
  const { activeDeadlineSeconds: deadline, hostnameOverride } = spec;
  const errors: FieldError[] = [];
  const check = (field: "serviceAccountName" | "nodeName" | "hostname" | "subdomain", rule: (name: string) => string[]) => {
    const name = spec[field];
    if (name) errors.push(...invalidEach(path.child(field), name, rule(name)));
  };
  check("serviceAccountName", isDns1123Subdomain);
  check("nodeName", isDns1123Subdomain);
  if (deadline !== undefined && (numberOf(deadline) < 1 || numberOf(deadline) > maxInt32))
    errors.push(invalid(path.child("activeDeadlineSeconds"), deadline, rangeText(1, maxInt32)));
  check("hostname", isDns1123Label);
  check("subdomain", isDns1123Label);
  if (hostnameOverride !== undefined) {
    const at = path.child("hostnameOverride");
    if (byteLength(hostnameOverride) > 64) errors.push(tooLong(at, 64));
    else errors.push(...invalidEach(at, hostnameOverride, isDns1123Subdomain(hostnameOverride)));
    if (spec.setHostnameAsFQDN === true) errors.push(forbidden(at, "may not be specified when setHostnameAsFQDN is true"));
    if (spec.hostNetwork === true) errors.push(forbidden(at, "may not be specified when hostNetwork is true"));
  }
  return errors;
}

const preemptionPolicies = ["PreemptLowerPriority", "Never"];

function validateClasses({ priorityClassName, runtimeClassName, preemptionPolicy }: PodSpec, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (priorityClassName) errors.push(...invalidEach(path.child("priorityClassName"), priorityClassName, isDns1123Subdomain(priorityClassName)));
  if (runtimeClassName !== undefined) errors.push(...invalidEach(path.child("runtimeClassName"), runtimeClassName, isDns1123Subdomain(runtimeClassName)));
  if (preemptionPolicy === "") errors.push(required(path.child("preemptionPolicy")));
  else if (preemptionPolicy !== undefined && !preemptionPolicies.includes(preemptionPolicy))
    errors.push(notSupported(path.child("preemptionPolicy"), preemptionPolicy, preemptionPolicies));
  return errors;
}
