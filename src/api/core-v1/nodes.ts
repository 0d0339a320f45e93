/** Nodes (API reference "Node v1 core"). */
import { DecodeError, decodeUntyped } from "../../apimachinery/decode/decode-object.ts";
import { duplicate, forbidden, invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isLabelValue, subdomainName } from "../../apimachinery/names.ts";
import { cidrWarnings, parseCidr, validateCidr } from "../../apimachinery/net.ts";
import { internalForm } from "../meta/internal-form.ts";
import { validateLabelName } from "../meta/labels.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { restoreMembers } from "../update-rules.ts";
import { taintEffects } from "./pod/scheduling.ts";
import { roundResourceList, validateResourceAmount } from "./resource-names.ts";
import type { Node, Taint } from "./types.ts";

const metadata = FieldPath.root("metadata");
const spec = FieldPath.root("spec");
const status = FieldPath.root("status");

export const nodes = defineKind<Node>({
  gvk: { group: "", version: "v1", kind: "Node" },
  nameRule: subdomainName,
  generation: "none",
  defaults: applyNodeDefaults,
  create: { prepare: dropDisabledFields, validate: validateNode, warnings: nodeWarnings },
  update: {
    prepare: (node, old, context) => {
      restoreMembers(node, old, "status");
      dropDisabledFields(node, context);
    },
    validate: (node, old) => validateNodeUpdate(node, old),
    warnings: nodeWarnings,
    resetFields: ["status"],
  },
  status: {
    prepare: (node, old, context) => {
      restoreMembers(node, old, "spec");
      dropDisabledFields(node, context);
    },
    validate: validateNodeUpdate,
    resetFields: ["spec"],
  },
  selectableFields: ({ spec: { unschedulable = false } = {} }) => ({ "spec.unschedulable": String(unschedulable) }),
});

function applyNodeDefaults(node: Node): void {
  const { spec: nodeSpec, status: nodeStatus } = node;
  for (const list of [nodeStatus?.capacity, nodeStatus?.allocatable]) roundResourceList(list);
  if (nodeStatus?.capacity !== undefined) nodeStatus.allocatable ??= { ...nodeStatus.capacity };
  if (nodeSpec === undefined) return;
  const first = nodeSpec.podCIDRs?.[0];
  if (nodeSpec.podCIDR && nodeSpec.podCIDR !== first) nodeSpec.podCIDRs = [nodeSpec.podCIDR];
  else if (!nodeSpec.podCIDR && first) nodeSpec.podCIDR = first;
}

/** Configuration of kubelets through the API is gone; fields behind gates that are off are dropped. */
function dropDisabledFields({ spec: nodeSpec, status: nodeStatus }: Node, context: RuleContext): void {
  delete nodeSpec?.configSource;
  delete nodeStatus?.config;
  if (!context.isEnabled("InPlacePodVerticalScalingSchedulerPreemption")) delete nodeSpec?.podPreemptionPolicy;
}

function validateNode(node: Node): FieldError[] {
  return [
    ...validateAnnotations(node),
    ...validateTaints(node.spec?.taints ?? [], metadata.child("taints")),
    ...validateAmounts(node),
    ...validatePodCidrs(node),
    ...validateDeclaredFeatures(node),
  ];
}

function validateNodeUpdate(node: Node, old: Node): FieldError[] {
  const errors = [...validateAnnotations(node), ...validateAmounts(node), ...validateAddresses(node), ...validateDeclaredFeatures(node)];
  const cidrs = node.spec?.podCIDRs ?? [];
  const before = old.spec?.podCIDRs ?? [];
  const text = 'node updates may not change podCIDR except from "" to valid';
  if (before.length > 0) {
    const changes = cidrs.length === before.length ? cidrs.filter((cidr, index) => cidr !== before[index]).length : 1;
    for (let change = 0; change < changes; change++) errors.push(forbidden(spec.child("podCIDRs"), text));
  }
  errors.push(...validateTaints(node.spec?.taints ?? [], metadata.child("taints")));
  if ((node.spec?.externalID ?? "") !== (old.spec?.externalID ?? "")) errors.push(forbidden(spec.child("externalID"), "may not be updated"));
  const { providerID = "" } = node.spec ?? {};
  const knownId = old.spec?.providerID ?? "";
  if (knownId !== "" && providerID !== knownId)
    errors.push(invalid(spec.child("providerID"), null, providerID === "" ? "field cannot be cleared once set" : "field cannot be modified once set"));
  return errors;
}

const taintsKey = "scheduler.alpha.kubernetes.io/taints";
const avoidPodsKey = "scheduler.alpha.kubernetes.io/preferAvoidPods";

/** Two annotations hold JSON. */
function validateAnnotations({ metadata: { annotations = {} } }: Node): FieldError[] {
  const path = metadata.child("annotations");
  const faultOf = (key: string) => (annotations[key] ? jsonFault(annotations[key]) : undefined);
  const taints = faultOf(taintsKey);
  const avoidPods = faultOf(avoidPodsKey);
  return [
    ...(taints === undefined ? [] : [invalid(path, taintsKey, taints)]),
    ...(avoidPods === undefined ? [] : [invalid(path.child("AvoidPods"), avoidPodsKey, avoidPods)]),
  ];
}

function jsonFault(text: string): string | undefined {
  try {
    decodeUntyped(Buffer.from(text), { mediaType: "json" });
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

function validateTaints(taints: readonly Taint[], path: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const at = path.index(index);
    const { key = "", value = "", effect = "" } = taint;
    const errors = validateLabelName(key, at.child("key"));
    const faults = isLabelValue(value);
    if (faults.length > 0) errors.push(invalid(at.child("value"), value, faults.join(";")));
    if (effect === "") errors.push(required(at.child("effect")));
    else if (!taintEffects.includes(effect)) errors.push(notSupported(at.child("effect"), effect, taintEffects));
    const identity = `${key}:${effect}`;
    if (seen.has(identity)) {
      const fault = duplicate(at, internalForm("api.core.v1.Taint", taint));
      errors.push({ ...fault, message: `${fault.message}: taints must be unique by key and effect pair` });
    }
    seen.add(identity);
    return errors;
  });
}

function validateAmounts({ status: nodeStatus = {} }: Node): FieldError[] {
  return (["capacity", "allocatable"] as const).flatMap((field) => {
    const list: Record<string, string | number> = nodeStatus[field] ?? {};
    return Object.keys(list)
      .sort()
      .flatMap((name) => validateResourceAmount(name, list[name]!, status.child(field, name)));
  });
}

function validateAddresses({ status: nodeStatus = {} }: Node): FieldError[] {
  const seen = new Set<string>();
  return (nodeStatus.addresses ?? []).flatMap((address, index) => {
    const identity = JSON.stringify([address.type, address.address]);
    const isRepeated = seen.has(identity);
    seen.add(identity);
    return isRepeated ? [duplicate(status.child("addresses").index(index), internalForm("api.core.v1.NodeAddress", address))] : [];
  });
}

/** A sorted set of names. */
function validateDeclaredFeatures({ status: nodeStatus = {} }: Node): FieldError[] {
  const features = nodeStatus.declaredFeatures ?? [];
  return features.flatMap((feature, index) => {
    const before = features[index - 1];
    const at = status.child("declaredFeatures").index(index);
    if (before === undefined || before < feature) return [];
    return [before === feature ? duplicate(at, feature) : invalid(at, feature, "list must be sorted alphabetically")];
  });
}

function validatePodCidrs({ spec: nodeSpec = {} }: Node): FieldError[] {
  const path = spec.child("podCIDRs");
  const cidrs = nodeSpec.podCIDRs ?? [];
  const errors = cidrs.flatMap((cidr, index) => validateCidr(cidr, path.index(index)));
  if (cidrs.length < 2 || errors.length > 0) return errors;
  const families = new Set(cidrs.map((cidr) => parseCidr(cidr, true)?.family));
  return cidrs.length > 2 || families.size < 2 ? [invalid(path, cidrs, "may specify no more than one CIDR for each IP family")] : [];
}

function nodeWarnings({ spec: nodeSpec = {} }: Node): string[] {
  return [
    ...(nodeSpec.externalID ? ["spec.externalID: this field is deprecated, and is unused by Kubernetes"] : []),
    ...(nodeSpec.podCIDRs ?? []).flatMap((cidr, index) => cidrWarnings(cidr, spec.child("podCIDRs").index(index))),
  ];
}
