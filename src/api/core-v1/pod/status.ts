/** Rules of a pod's status. */
import { duplicate, forbidden, invalid, invalidEach } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { isDns1123Subdomain, isQualifiedName } from "../../../apimachinery/names.ts";
import { parseIp, validateIp } from "../../../apimachinery/net.ts";
import { internalForm } from "../../meta/internal-form.ts";
import type { Container, ContainerStatus, Pod, PodCondition, PodSpec, PodStatus } from "../types.ts";

const path = FieldPath.root("status");

export function validatePodStatus(pod: Pod, old: Pod): FieldError[] {
  const status = pod.status ?? {};
  const before = old.status ?? {};
  const errors = validateConditionTypes(status.conditions ?? []);
  if ((pod.spec?.nodeName ?? "") !== (old.spec?.nodeName ?? "")) errors.push(forbidden(path.child("nodeName"), "may not be changed directly"));
  const { nominatedNodeName = "" } = status;
  if (nominatedNodeName !== "" && nominatedNodeName !== before.nominatedNodeName) {
    errors.push(...invalidEach(path.child("nominatedNodeName"), nominatedNodeName, isDns1123Subdomain(nominatedNodeName)));
    if (old.spec?.nodeName) errors.push(forbidden(path.child("nominatedNodeName"), "may not be set on pods that are already bound to a node"));
  }
  if ((status.qosClass ?? "") !== (before.qosClass ?? "")) errors.push(invalid(path.child("qosClass"), status.qosClass ?? "", "field is immutable"));
  errors.push(
    ...validateContainerStates(status.containerStatuses ?? [], before.containerStatuses ?? [], old.spec ?? {}, "containers"),
    ...validateContainerStates(status.initContainerStatuses ?? [], before.initContainerStatuses ?? [], old.spec ?? {}, "initContainers"),
    ...validateClaimStatuses(status, pod.spec ?? {}),
    ...validateAddresses(status, "podIPs", path.child("podIPs")),
  );
  return [...errors, ...validateHostAddresses(status)];
}

const systemConditions = ["PodScheduled", "Ready", "Initialized"];

/** Upstream's path of conditions is in the metadata. */
function validateConditionTypes(conditions: readonly PodCondition[]): FieldError[] {
  return conditions.flatMap(({ type = "" }, index) => {
    if (systemConditions.includes(type)) return [];
    return invalidEach(FieldPath.root("metadata", "conditions").index(index).child("Type"), type, isQualifiedName(type));
  });
}

/** A container that has ended for good does not start again. */
function validateContainerStates(
  now: readonly ContainerStatus[],
  old: readonly ContainerStatus[],
  spec: PodSpec,
  field: "containers" | "initContainers",
): FieldError[] {
  if (spec.restartPolicy === "Always" && field === "containers") return [];
  const at = path.child(field === "containers" ? "containerStatuses" : "initContainerStatuses");
  return old.flatMap(({ name, state }, index) => {
    const { terminated } = state ?? {};
    const container = spec[field]?.find((other: Container) => other.name === name);
    if (terminated === undefined || mayRestart(container, terminated.exitCode, spec.restartPolicy)) return [];
    const after = now.find((status) => status.name === name);
    return after !== undefined && after.state?.terminated === undefined
      ? [forbidden(at.index(index).child("state"), "may not be transitioned to non-terminated state")]
      : [];
  });
}

function mayRestart(container: Container | undefined, exitCode: number, podPolicy: string | undefined): boolean {
  if ((container?.restartPolicyRules ?? []).length > 0) return true;
  const policy = container?.restartPolicy ?? podPolicy;
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

function validateClaimStatuses({ resourceClaimStatuses = [] }: PodStatus, spec: PodSpec): FieldError[] {
  return resourceClaimStatuses.flatMap(({ name = "", resourceClaimName }, index) => {
    const at = path.child("resourceClaimStatuses").index(index);
    const isKnown = (spec.resourceClaims ?? []).some((claim) => claim.name === name);
    return [
      ...(resourceClaimStatuses.findIndex((other) => other.name === name) < index ? [duplicate(at.child("name"), name)] : []),
      ...(isKnown ? [] : [invalid(at.child("name"), name, "must match the name of an entry in `spec.resourceClaims`")]),
      ...(resourceClaimName === undefined ? [] : invalidEach(at.child("resourceClaimName"), resourceClaimName, isDns1123Subdomain(resourceClaimName))),
    ];
  });
}

function validateAddresses(status: PodStatus, field: "podIPs" | "hostIPs", at: FieldPath): FieldError[] {
  const addresses = (status[field] ?? []).map(({ ip = "" }) => ip);
  const errors = addresses.flatMap((address, index) => validateIp(address, at.index(index)));
  if (errors.length > 0 || addresses.length < 2) return errors;
  const families = new Set(addresses.map((address) => parseIp(address, true)?.family));
  if (addresses.length <= 2 && families.size === addresses.length) return [];
  const type = field === "podIPs" ? "api.core.v1.PodIP" : "api.core.v1.HostIP";
  return [
    invalid(
      at,
      status[field]!.map((item) => internalForm(type, item)),
      "may specify no more than one IP for each IP family",
    ),
  ];
}

function validateHostAddresses(status: PodStatus): FieldError[] {
  const first = status.hostIPs?.[0]?.ip;
  if (first === undefined) return [];
  const at = path.child("hostIPs");
  const errors = first === status.hostIP ? [] : [invalid(at.index(0).child("ip"), first, "must be equal to `hostIP`")];
  return [...errors, ...validateAddresses(status, "hostIPs", at)];
}
