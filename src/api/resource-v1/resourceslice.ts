import { numberOf } from "../../apimachinery/json.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain, subdomainName } from "../../apimachinery/names.ts";
import { validateNodeSelector } from "../core-v1/node-selector.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { immutable } from "../update-rules.ts";
import { validateCounterSet } from "./counters.ts";
import { prepareDevice, validateDevice } from "./device.ts";
import { validateDriver, validateItems, validatePoolName, validateUnique } from "./device-names.ts";
import { stampTaint } from "./device-taint.ts";
import type { ResourcePool, ResourceSlice, ResourceSliceSpec } from "./types.ts";

const specPath = FieldPath.root("spec");

export const resourceSlices = defineKind<ResourceSlice>({
  gvk: { group: "resource.k8s.io", version: "v1", kind: "ResourceSlice" },
  nameRule: subdomainName,
  generation: ({ spec }, old) => !isSemanticallyEqual("api.resource.v1.ResourceSliceSpec", spec, old.spec),
  create: {
    prepare: (slice, context) => prepareSlice(slice, undefined, context),
    validate: ({ spec }) => validateSpec(spec),
  },
  update: {
    prepare: prepareSlice,
    validate: ({ spec }, old) => [
      ...validateSpec(spec),
      ...immutable(specPath.child("nodeName"), spec.nodeName, old.spec.nodeName),
      ...immutable(specPath.child("driver"), spec.driver, old.spec.driver),
      ...immutable(specPath.child("pool", "name"), spec.pool?.name, old.spec.pool?.name),
    ],
  },
  delete: { answer: "object" },
  selectableFields: ({ spec }) => ({ "spec.nodeName": spec?.nodeName ?? "", "spec.driver": spec?.driver ?? "", "spec.pool.name": spec?.pool?.name ?? "" }),
});

function prepareSlice(slice: ResourceSlice, old: ResourceSlice | undefined, context: RuleContext): void {
  slice.spec ??= {} as ResourceSliceSpec;
  for (const device of slice.spec.devices ?? []) {
    const before = old?.spec.devices?.find(({ name }) => name === device.name)?.taints ?? [];
    for (const taint of device.taints ?? []) stampTaint(taint, before, context.nowMs);
    prepareDevice(device, context);
  }
}

const maxDevices = 128;
const maxElaborateDevices = 64;
const maxCounterSets = 8;

function validateSpec(spec: ResourceSliceSpec): FieldError[] {
  const { devices = [], sharedCounters = [] } = spec;
  const isElaborate = devices.some(({ taints = [], consumesCounters = [] }) => taints.length + consumesCounters.length > 0);
  const onlyOne = devices.length > 0 && sharedCounters.length > 0 ? [invalid(specPath, "", "only one of `sharedCounters` or `devices` is allowed")] : [];
  const rule = (device: (typeof devices)[number], path: FieldPath) => validateDevice(device, spec.perDeviceNodeSelection === true, path);
  return [
    ...validateDriver(spec.driver ?? "", specPath.child("driver")),
    ...validatePool(spec.pool ?? {}, specPath.child("pool")),
    ...validatePlace(spec),
    ...onlyOne,
    ...validateItems(devices, isElaborate ? maxElaborateDevices : maxDevices, rule, specPath.child("devices")),
    ...validateUnique(
      devices,
      ({ name }) => name ?? "",
      specPath.child("devices"),
      ({ name }) => name ?? "",
    ),
    ...validateItems(sharedCounters, maxCounterSets, validateCounterSet, specPath.child("sharedCounters")),
    ...validateUnique(
      sharedCounters,
      ({ name }) => name ?? "",
      specPath.child("sharedCounters"),
      ({ name }) => name ?? "",
    ),
  ];
}

function validatePool({ name = "", generation = 0, resourceSliceCount = 0 }: Partial<ResourcePool>, path: FieldPath): FieldError[] {
  return [
    ...validatePoolName(name, path.child("name")),
    ...(numberOf(generation) < 0 ? [invalid(path.child("generation"), generation, "must be greater than or equal to zero")] : []),
    ...(resourceSliceCount <= 0 ? [invalid(path.child("resourceSliceCount"), resourceSliceCount, "must be greater than zero")] : []),
  ];
}

/** Where the devices are: exactly one of four ways to say it. */
function validatePlace({ nodeName, nodeSelector, allNodes, perDeviceNodeSelection }: ResourceSliceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const ways: string[] = [];
  if (nodeName !== undefined) {
    ways.push("`nodeName`");
    if (nodeName === "") errors.push(invalid(specPath.child("nodeName"), nodeName, "must be either unset or set to a non-empty string"));
    else errors.push(...invalidEach(specPath.child("nodeName"), nodeName, isDns1123Subdomain(nodeName)));
  }
  if (nodeSelector !== undefined) {
    ways.push("`nodeSelector`");
    const path = specPath.child("nodeSelector");
    errors.push(...validateNodeSelector(nodeSelector, path));
    const terms = nodeSelector.nodeSelectorTerms ?? [];
    if (terms.length !== 1) errors.push(invalid(path.child("nodeSelectorTerms"), terms, "must have exactly one node selector term"));
  }
  for (const [name, value] of [
    ["allNodes", allNodes],
    ["perDeviceNodeSelection", perDeviceNodeSelection],
  ] as const) {
    if (value === true) ways.push(`\`${name}\``);
    else if (value === false) errors.push(invalid(specPath.child(name), false, "must be either unset or set to true"));
  }
  const text = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  if (ways.length === 0) errors.push(required(specPath, text));
  if (ways.length > 1) errors.push(invalid(specPath, `{${ways.join(", ")}}`, `${text}, but multiple fields are set`));
  return errors;
}
