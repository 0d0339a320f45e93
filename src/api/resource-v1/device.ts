/** Rules of a device in a slice. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, required, tooLong } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isDns1123Subdomain, isQualifiedName } from "../../apimachinery/names.ts";
import { validateNodeSelector } from "../core-v1/node-selector.ts";
import type { RuleContext } from "../strategy.ts";
import { validateCapacity } from "./capacity.ts";
import { validateConsumption } from "./counters.ts";
import { validateItems, validateLabelText, validateQualifiedName, validateUnique } from "./device-names.ts";
import { validateTaint } from "./device-taint.ts";
import type { Device, DeviceAttribute } from "./types.ts";

const maxTaints = 16;
const maxAttributesAndCapacities = 32;
const maxConsumptions = 2;
const maxBindingConditions = 4;
const maxValueBytes = 64;

/** Drops what is behind feature gates. */
export function prepareDevice(device: Device, context: RuleContext): void {
  if (!context.isEnabled("DRANodeAllocatableResources")) delete device.nodeAllocatableResources;
  if (!context.isEnabled("DRAListTypeAttributes"))
    for (const attribute of Object.values(device.attributes ?? {}))
      for (const name of ["ints", "bools", "strings", "versions"] as const) delete attribute[name];
  if (!context.isEnabled("DRADeviceCompatibilityGroups")) for (const consumption of device.consumesCounters ?? []) delete consumption.compatibilityGroups;
}

export function validateDevice(device: Device, isPlacedAlone: boolean, path: FieldPath): FieldError[] {
  const { attributes = {}, capacity = {} } = device;
  const count = Object.keys(attributes).length + Object.keys(capacity).length;
  return [
    ...validateLabelText(device.name ?? "", path.child("name")),
    ...(count > maxAttributesAndCapacities
      ? [invalid(path, count, `the total number of attributes and capacities must not exceed ${maxAttributesAndCapacities}`)]
      : []),
    ...Object.keys(attributes)
      .sort()
      .flatMap((name) => [
        ...validateQualifiedName(name, path.child("attributes")),
        ...validateAttribute(attributes[name]!, path.child("attributes").key(name)),
      ]),
    ...Object.keys(capacity)
      .sort()
      .flatMap((name) => [
        ...validateQualifiedName(name, path.child("capacity")),
        ...validateCapacity(capacity[name]!, device.allowMultipleAllocations === true, path.child("capacity").key(name)),
      ]),
    ...validateItems(device.taints, maxTaints, validateTaint, path.child("taints")),
    ...validateItems(device.consumesCounters, maxConsumptions, validateConsumption, path.child("consumesCounters")),
    ...validateUnique(
      device.consumesCounters,
      ({ counterSet }) => counterSet ?? "",
      path.child("consumesCounters"),
      ({ counterSet }) => counterSet ?? "",
    ),
    ...validatePlace(device, isPlacedAlone, path),
    ...validateBinding(device, path),
  ];
}

/** The fields in the order in which texts name them. */
const valueFields = ["int", "bool", "string", "version", "ints", "bools", "strings", "versions"] as const;
const valueNames = valueFields.map((name) => `\`${name}\``).join(", ");
const semanticVersion =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-((0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/;

function validateAttribute(attribute: DeviceAttribute, path: FieldPath): FieldError[] {
  const set = valueFields.filter((name) => attribute[name] !== undefined);
  const { string, version } = attribute;
  const errors: FieldError[] = [];
  if (string !== undefined && byteLength(string) > maxValueBytes) errors.push(tooLong(path.child("string"), maxValueBytes));
  if (version !== undefined && !semanticVersion.test(version))
    errors.push(invalid(path.child("version"), version, "must be a string compatible with semver.org spec 2.0.0"));
  if (version !== undefined && byteLength(version) > maxValueBytes) errors.push(tooLong(path.child("version"), maxValueBytes));
  if (set.length === 0) errors.push(invalid(path, "", `must specify one of: ${valueNames}`));
  if (set.length > 1) errors.push(invalid(path, `{${set.join(", ")}}`, `must specify exactly one of: ${valueNames}`));
  return errors;
}

function validatePlace({ nodeName, nodeSelector, allNodes }: Device, isPlacedAlone: boolean, path: FieldPath): FieldError[] {
  const ways = [nodeName !== undefined && "`nodeName`", nodeSelector !== undefined && "`nodeSelector`", allNodes !== undefined && "`allNodes`"].filter(
    (way) => way !== false,
  );
  if (!isPlacedAlone) {
    const text = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    return ways.length === 0 ? [] : [invalid(path, undefined, text)];
  }
  const errors: FieldError[] = [];
  if (nodeName !== undefined)
    errors.push(
      ...(nodeName === ""
        ? [invalid(path.child("nodeName"), nodeName, "must not be empty")]
        : invalidEach(path.child("nodeName"), nodeName, isDns1123Subdomain(nodeName))),
    );
  if (nodeSelector !== undefined) {
    const terms = nodeSelector.nodeSelectorTerms ?? [];
    errors.push(...validateNodeSelector(nodeSelector, path.child("nodeSelector")));
    if (terms.length !== 1) errors.push(invalid(path.child("nodeSelector", "nodeSelectorTerms"), terms, "must have exactly one node selector term"));
  }
  if (allNodes === false) errors.push(invalid(path.child("allNodes"), false, "must be either unset or set to true"));
  const text = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
  if (ways.length === 0) errors.push(required(path, text));
  if (ways.length > 1) errors.push(invalid(path, `{${ways.join(", ")}}`, text));
  return errors;
}

/** Conditions that a device must have before pods are bound, and those that end the waiting (KEP-5007). */
function validateBinding({ bindingConditions = [], bindingFailureConditions = [] }: Device, path: FieldPath): FieldError[] {
  const rule = (condition: string, at: FieldPath) => invalidEach(at, condition, isQualifiedName(condition));
  const errors = [
    ...validateItems(bindingConditions, maxBindingConditions, rule, path.child("bindingConditions")),
    ...validateItems(bindingFailureConditions, maxBindingConditions, rule, path.child("bindingFailureConditions")),
  ];
  if (bindingConditions.length > 0 && bindingFailureConditions.length === 0) {
    errors.push(invalid(path.child("bindingFailureConditions"), undefined, "bindingFailureConditions are required to use bindingConditions"));
  }
  if (bindingConditions.length === 0 && bindingFailureConditions.length > 0) {
    errors.push(invalid(path.child("bindingConditions"), undefined, "bindingConditions are required to use bindingFailureConditions"));
  }
  return errors;
}
